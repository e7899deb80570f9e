/**
 * Answers to an agent's questions while a person makes them up: what a choice does, what is missing, what is sent.
 * The server judges again; these rules are there so that it has nothing to refuse.
 */
import type { Answer } from "~/wire/generated/Answer";
import type { Clarification } from "~/wire/generated/Clarification";
import type { ClarificationAnswer } from "~/wire/generated/ClarificationAnswer";
import type { Message } from "~/wire/generated/Message";
import type { Question } from "~/wire/generated/Question";
import { limitProblem } from "./question-limits";

/** The longest answer in words of one's own, in characters. */
export const ANSWER_CHARS = 2_000;

/** One question as a row of the transcript. */
export interface QuestionRow {
  message: Message;
  clarification: Clarification;
}

/** What is chosen and written so far. */
export interface DraftAnswer {
  selected: readonly string[];
  text: string;
}

export const NO_ANSWER: DraftAnswer = { selected: [], text: "" };

/** Whether words of one's own are an answer. */
export function takesText(question: Question): boolean {
  return question.free_text || question.options.length === 0;
}

/** Chooses an option, or takes the choice back. Where one answer is wanted it replaces every other, words included. */
export function choose(question: Question, draft: DraftAnswer, optionId: string): DraftAnswer {
  const held = draft.selected.includes(optionId);
  if (question.multi_select) {
    const others = draft.selected.filter((id) => id !== optionId);
    return { ...draft, selected: held ? others : [...others, optionId] };
  }
  if (held && question.optional) return NO_ANSWER;
  return { selected: [optionId], text: "" };
}

/** Writes words. Where one answer is wanted they replace the chosen option. */
export function write(question: Question, draft: DraftAnswer, text: string): DraftAnswer {
  const replaces = !question.multi_select && text.trim() !== "";
  return { selected: replaces ? [] : draft.selected, text };
}

/** What keeps this from being an answer, in words for the person; `undefined` when it is one. */
export function problemOf(question: Question, draft: DraftAnswer): string | undefined {
  const text = draft.text.trim();
  if (text === "" && draft.selected.length === 0) {
    if (question.optional) return undefined;
    if (question.options.length === 0) return "Write an answer.";
    return question.free_text ? "Choose an option or write an answer." : "Choose an option.";
  }
  if ([...text].length > ANSWER_CHARS) return `At most ${ANSWER_CHARS} characters.`;
  if (text === "") return limitProblem(question, draft);
  if (question.format === "integer" && !/^[+-]?\d+$/.test(text)) return "Write a whole number.";
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  if (question.format === "number" && !number.test(text)) return "Write a number, for example 2.5.";
  return limitProblem(question, draft);
}

export type Drafts = Readonly<Record<string, DraftAnswer>>;

function problemOfRow({ message, clarification }: QuestionRow, drafts: Drafts): string | undefined {
  return problemOf(clarification.question, drafts[message.id] ?? NO_ANSWER);
}

/** The first question whose answer does not fit, or -1. */
export function firstWrong(rows: readonly QuestionRow[], drafts: Drafts): number {
  return rows.findIndex((row) => problemOfRow(row, drafts) !== undefined);
}

/** The first question that has no fitting answer yet: the number keys choose there. */
export function firstOpen(rows: readonly QuestionRow[], drafts: Drafts): number {
  return rows.findIndex(({ message, clarification: { question } }) => {
    const draft = drafts[message.id] ?? NO_ANSWER;
    return problemOf(question, draft) !== undefined || (question.optional && draft === NO_ANSWER);
  });
}

/** What is sent: one answer for each question; an optional one without an answer is left out. */
export function answersOf(rows: readonly QuestionRow[], drafts: Drafts): ClarificationAnswer[] {
  return rows.flatMap(({ message }) => {
    const { selected, text } = drafts[message.id] ?? NO_ANSWER;
    const words = text.trim();
    if (selected.length === 0 && words === "") return [];
    return [{ message_id: message.id, selected: [...selected], ...(words === "" ? {} : { text: words }) }];
  });
}

/** A stored answer in words: labels of what was chosen, then the person's own. */
export function answerWords(question: Question, answer: Answer | undefined): string {
  const labels = (answer?.selected ?? []).map(
    (id) => question.options.find((option) => option.id === id)?.label ?? id,
  );
  const words = answer?.text === undefined ? labels : [...labels, answer.text];
  return words.length === 0 ? "No answer" : words.join("; ");
}
