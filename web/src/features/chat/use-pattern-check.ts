import { useRef, useState } from "react";
import { fitsPattern } from "./pattern-check";
import { type Drafts, NO_ANSWER, type QuestionRow } from "./question-answers";

/** Texts that do not match what their question wants, by question. */
export type Misfits = Readonly<Record<string, string>>;

interface PatternCheck {
  misfits: Misfits;
  /** Gives what does not match; `undefined` while an earlier check goes on. */
  check(rows: readonly QuestionRow[], drafts: Drafts): Promise<Misfits | undefined>;
}

/** Checks patterns when the person wants to send, once at a time. */
export function usePatternCheck(): PatternCheck {
  const [misfits, setMisfits] = useState<Misfits>({});
  const checking = useRef(false);
  const check = async (rows: readonly QuestionRow[], drafts: Drafts) => {
    if (checking.current) return undefined;
    checking.current = true;
    try {
      const found = await findMisfits(rows, drafts);
      setMisfits(found);
      return found;
    } finally {
      checking.current = false;
    }
  };
  return { misfits, check };
}

async function findMisfits(rows: readonly QuestionRow[], drafts: Drafts): Promise<Misfits> {
  const found: Record<string, string> = {};
  const checks = rows.map(async ({ message, clarification }) => {
    const pattern = clarification.question.limits?.pattern;
    const text = (drafts[message.id] ?? NO_ANSWER).text.trim();
    if (pattern === undefined || text === "") return;
    if ((await fitsPattern(pattern, text)) === false) found[message.id] = text;
  });
  await Promise.all(checks);
  return found;
}
