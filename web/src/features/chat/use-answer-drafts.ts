import { useState } from "react";
import type { DraftAnswer, Drafts } from "./question-answers";

/** Answers begun on this page: a card that was scrolled away and comes back shows them again. */
const begun = new Map<string, Drafts>();
/** Forgotten first begun first; nobody has more open questions than this. */
const KEPT = 50;

interface AnswerDrafts {
  drafts: Drafts;
  keep(questionId: string, draft: DraftAnswer): void;
  /** The person wanted to send before everything was answered. */
  asked: boolean;
  setAsked(asked: boolean): void;
}

export function useAnswerDrafts(pendingId: string): AnswerDrafts {
  const [drafts, setDrafts] = useState<Drafts>(() => begun.get(pendingId) ?? {});
  const [asked, setAsked] = useState(false);
  const keep = (questionId: string, draft: DraftAnswer) => {
    const next = { ...drafts, [questionId]: draft };
    begun.delete(pendingId);
    begun.set(pendingId, next);
    const [oldest] = begun.keys();
    if (begun.size > KEPT && oldest !== undefined) begun.delete(oldest);
    setDrafts(next);
  };
  return { drafts, keep, asked, setAsked };
}
