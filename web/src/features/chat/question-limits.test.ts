import { expect, test } from "vitest";
import type { Question } from "~/wire/generated/Question";
import { NO_ANSWER } from "./question-answers";
import { limitHints, limitProblem } from "./question-limits";

function question(part: Partial<Question>): Question {
  return { text: "Which?", options: [], multi_select: false, free_text: true, ...part };
}

test.each<[Partial<Question>, string[]]>([
  [{}, []],
  [{ optional: true }, ["May be left open"]],
  [{ multi_select: true }, ["Choose any number"]],
  [{ multi_select: true, limits: { min_items: 2, max_items: 2 } }, ["Choose exactly 2"]],
  [{ multi_select: true, limits: { max_items: 2 } }, ["Choose at most 2"]],
  [{ format: "integer" }, ["A whole number"]],
  [
    { format: "integer", limits: { minimum: 1, maximum: 9 }, optional: true },
    ["A whole number, from 1 to 9", "May be left open"],
  ],
  [{ format: "number", limits: { minimum: 0.5 } }, ["A number, at least 0.5"]],
  [{ limits: { min_length: 2, max_length: 5 } }, ["From 2 to 5 characters"]],
])("%o is told as %j", (part, hints) => {
  expect(limitHints(question(part))).toEqual(hints);
});

test.each<[Partial<Question>, string, string | undefined]>([
  [{ limits: { minimum: 1 } }, "x", undefined],
  [{ format: "integer", limits: { minimum: 1, maximum: 9 } }, "9", undefined],
  [{ format: "integer", limits: { minimum: 1, maximum: 9 } }, "10", "Write a whole number, from 1 to 9."],
  [{ format: "number", limits: { maximum: -0.5 } }, " -0.5 ", undefined],
  [{ format: "number", limits: { maximum: -0.5 } }, "4e-1", "Write a number, at most -0.5."],
  [{ limits: { min_length: 2, max_length: 3 } }, "😀😀😀", undefined],
  [{ limits: { min_length: 2, max_length: 3 } }, "x ", "From 2 to 3 characters; this has 1."],
  [{ limits: { max_length: 3 } }, "xxxx", "At most 3 characters; this has 4."],
  [{ limits: { min_length: 3 } }, "", undefined],
])("%o answered %j: %s", (part, text, problem) => {
  expect(limitProblem(question(part), { ...NO_ANSWER, text })).toBe(problem);
});

test("as many options are chosen as wanted, or none where that is allowed", () => {
  const two = question({ multi_select: true, limits: { min_items: 2 } });
  const problem = (selected: string[]) => limitProblem(two, { ...NO_ANSWER, selected });
  expect(problem(["a"])).toBe("Choose at least 2.");
  expect(problem(["a", "b"])).toBeUndefined();
  expect(problem([])).toBeUndefined();
});
