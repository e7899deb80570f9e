import { describe, expect, test } from "vitest";
import { aMessage } from "~/testing/builders";
import type { Question } from "~/wire/generated/Question";
import {
  ANSWER_CHARS,
  answersOf,
  answerWords,
  choose,
  firstOpen,
  firstWrong,
  NO_ANSWER,
  problemOf,
  type QuestionRow,
  write,
} from "./question-answers";

function question(part: Partial<Question> = {}): Question {
  const options = ["a", "b", "c"].map((id) => ({ id, label: `Label ${id}` }));
  return { text: "Which?", options, multi_select: false, free_text: true, ...part };
}

function row(index: number, part: Partial<Question> = {}): QuestionRow {
  return {
    message: aMessage({ id: `m${index}`, type: "clarification_request" }),
    clarification: { index, count: 2, question: question(part) },
  };
}

describe("where one answer is wanted", () => {
  test("an option replaces another and the words, and words replace the option", () => {
    const a = choose(question(), NO_ANSWER, "a");
    expect(choose(question(), a, "b")).toEqual({ selected: ["b"], text: "" });
    const words = write(question(), a, "mine");
    expect(words).toEqual({ selected: [], text: "mine" });
    expect(choose(question(), words, "c")).toEqual({ selected: ["c"], text: "" });
    expect(write(question(), a, "  ")).toEqual({ selected: ["a"], text: "  " });
  });

  test("only a question that may stay open takes its choice back", () => {
    const a = choose(question(), NO_ANSWER, "a");
    expect(choose(question(), a, "a").selected).toEqual(["a"]);
    expect(choose(question({ optional: true }), a, "a").selected).toEqual([]);
  });
});

test("where several are wanted, each is chosen and taken back, beside words", () => {
  const several = question({ multi_select: true });
  const two = choose(several, choose(several, NO_ANSWER, "b"), "a");
  expect(two.selected).toEqual(["b", "a"]);
  expect(write(several, two, "and mine")).toEqual({ selected: ["b", "a"], text: "and mine" });
  expect(choose(several, two, "b").selected).toEqual(["a"]);
});

test.each<[Partial<Question>, string, string[], string | undefined]>([
  [{}, "", [], "Choose an option or write an answer."],
  [{ free_text: false }, "", [], "Choose an option."],
  [{ options: [] }, " ", [], "Write an answer."],
  [{ optional: true }, "", [], undefined],
  [{}, "", ["a"], undefined],
  [{}, "x".repeat(ANSWER_CHARS), [], undefined],
  [{}, "😀".repeat(ANSWER_CHARS), [], undefined],
  [{}, "x".repeat(ANSWER_CHARS + 1), [], "At most 2000 characters."],
  [{ format: "integer" }, "-3", [], undefined],
  [{ format: "integer" }, "2.5", [], "Write a whole number."],
  [{ format: "number" }, "2.5e3", [], undefined],
  [{ format: "number" }, ".5", [], undefined],
  [{ format: "number" }, "many", [], "Write a number, for example 2.5."],
])("%o answered %j and %j: %s", (part, text, selected, problem) => {
  expect(problemOf(question(part), { selected, text })).toBe(problem);
});

test("the keys choose in the first question without an answer, and all are sent together", () => {
  const rows = [row(0), row(1, { optional: true })];
  expect(firstOpen(rows, {})).toBe(0);
  expect(firstWrong([row(1, { optional: true }), row(0)], {})).toBe(1);
  const drafts = { m0: { selected: ["a"], text: "" } };
  expect(firstOpen(rows, drafts)).toBe(1);
  expect(firstWrong(rows, drafts)).toBe(-1);
  expect(answersOf(rows, drafts)).toEqual([{ message_id: "m0", selected: ["a"] }]);
  const both = { ...drafts, m1: { selected: [], text: " mine " } };
  expect(firstOpen(rows, both)).toBe(-1);
  expect(answersOf(rows, both)[1]).toEqual({ message_id: "m1", selected: [], text: "mine" });
});

test("a stored answer reads as labels and words, also of options nobody knows any more", () => {
  expect(answerWords(question(), { selected: ["a", "z"], text: "and mine" })).toBe("Label a; z; and mine");
  expect(answerWords(question(), { selected: [] })).toBe("No answer");
  expect(answerWords(question(), undefined)).toBe("No answer");
});
