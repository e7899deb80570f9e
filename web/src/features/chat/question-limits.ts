/**
 * What a form says about the answers it takes, in words, and whether an answer keeps to it. The pattern of a text is
 * checked apart (`pattern-check`): one that an agent wrote may take for ever.
 */
import type { Question } from "~/wire/generated/Question";
import type { DraftAnswer } from "./question-answers";

/** What the person is told before they answer. */
export function limitHints(question: Question): string[] {
  const { limits, format } = question;
  const hints: string[] = [];
  if (question.multi_select) {
    hints.push(`Choose ${range(limits?.min_items, limits?.max_items) ?? "any number"}`);
  }
  const numbers = range(limits?.minimum, limits?.maximum);
  if (format === "integer") hints.push(["A whole number", numbers].filter(Boolean).join(", "));
  else if (format === "number") hints.push(["A number", numbers].filter(Boolean).join(", "));
  const length = format === undefined ? range(limits?.min_length, limits?.max_length) : undefined;
  if (length !== undefined) hints.push(`${capital(length)} characters`);
  if (question.optional) hints.push("May be left open");
  return hints;
}

/** What is wrong with an answer that is there. */
export function limitProblem(question: Question, { selected, text }: DraftAnswer): string | undefined {
  const { limits, format } = question;
  if (!limits) return undefined;
  if (question.multi_select && selected.length > 0) {
    const { min_items, max_items } = limits;
    if (outside(selected.length, min_items, max_items)) return `Choose ${range(min_items, max_items)}.`;
  }
  const words = text.trim();
  if (words === "") return undefined;
  if (format !== undefined) {
    const { minimum, maximum } = limits;
    if (!outside(Number(words), minimum, maximum)) return undefined;
    return `Write a ${format === "integer" ? "whole number" : "number"}, ${range(minimum, maximum)}.`;
  }
  const { min_length, max_length } = limits;
  const length = [...words].length;
  if (!outside(length, min_length, max_length)) return undefined;
  return `${capital(range(min_length, max_length) ?? "")} characters; this has ${length}.`;
}

function outside(value: number, least: number | undefined, most: number | undefined): boolean {
  return (least !== undefined && value < least) || (most !== undefined && most < value);
}

/** `from 1 to 9`, `at least 1`, `at most 9`, `exactly 3`; `undefined` without limits. */
function range(least: number | undefined, most: number | undefined): string | undefined {
  if (least === undefined) return most === undefined ? undefined : `at most ${most}`;
  if (most === undefined) return `at least ${least}`;
  return least === most ? `exactly ${least}` : `from ${least} to ${most}`;
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
