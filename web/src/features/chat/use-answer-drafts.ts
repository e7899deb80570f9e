import { useState } from "react";
import { keepAnswers, readAnswers } from "./kept-answers";
import type { DraftAnswer, Drafts } from "./question-answers";

interface AnswerDrafts {
  drafts: Drafts;
  keep(questionId: string, draft: DraftAnswer): void;
  /** The person wanted to send before everything was answered. */
  asked: boolean;
  setAsked(asked: boolean): void;
}

/** Answers begun: a card that was scrolled away, or a page that was loaded anew, shows them again. */
export function useAnswerDrafts(pendingId: string): AnswerDrafts {
  const [drafts, setDrafts] = useState<Drafts>(() => readAnswers(pendingId));
  const [asked, setAsked] = useState(false);
  const keep = (questionId: string, draft: DraftAnswer) => {
    const next = { ...drafts, [questionId]: draft };
    keepAnswers(pendingId, next);
    setDrafts(next);
  };
  return { drafts, keep, asked, setAsked };
}
