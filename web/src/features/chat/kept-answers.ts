/** Answers begun and not sent, per request, kept by this browser so that no reload loses them. */
import { keep, keptKeys, readKept } from "~/socket/kept";
import type { DraftAnswer, Drafts } from "./question-answers";

const PREFIX = "flightstrip.answers.";
/** Nobody answers so many requests at a time. Those that ended where nobody looked go first: ids rise with time. */
const KEPT = 50;

export function readAnswers(pendingId: string): Drafts {
  try {
    const held: unknown = JSON.parse(readKept(PREFIX + pendingId) ?? "{}");
    const drafts = Object.entries(held ?? {}).filter(([, draft]) => isDraft(draft));
    return Object.fromEntries(drafts) as Drafts;
  } catch {
    return {};
  }
}

export function keepAnswers(pendingId: string, drafts: Drafts): void {
  const begun = Object.entries(drafts).filter(([, { selected, text }]) => selected.length > 0 || text !== "");
  keep(PREFIX + pendingId, begun.length === 0 ? undefined : JSON.stringify(Object.fromEntries(begun)));
  const keys = keptKeys(PREFIX).sort();
  for (const oldest of keys.slice(0, Math.max(0, keys.length - KEPT))) keep(oldest, undefined);
}

export function forgetAnswers(pendingId: string): void {
  keep(PREFIX + pendingId, undefined);
}

function isDraft(value: unknown): value is DraftAnswer {
  if (typeof value !== "object" || value === null) return false;
  const { selected, text } = value as Record<string, unknown>;
  return (
    Array.isArray(selected) && selected.every((id) => typeof id === "string") && typeof text === "string"
  );
}
