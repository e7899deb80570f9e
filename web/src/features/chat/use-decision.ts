import { useState } from "react";
import { failureText, refusalCode } from "~/socket/requests";

/** Why a decision did not get through. */
export interface Refusal {
  /**
   * `late`: something was decided before it; `repeated`: the same, but that may have been the person's own first try,
   * whose outcome was not heard; `failed`: it may be tried again.
   */
  kind: "late" | "repeated" | "failed";
  words: string;
}

export interface Decision {
  /** What was sent and not yet refused; the row's own change follows. */
  sent: string | undefined;
  refusal: Refusal | undefined;
  decide(what: string, send: () => Promise<void>): Promise<void>;
}

/** One answer to one request: sent once, and a refusal is said where the answer was given. */
export function useDecision(): Decision {
  const [sent, setSent] = useState<string>();
  const [refusal, setRefusal] = useState<Refusal>();
  const [unheard, setUnheard] = useState(false);
  const decide = async (what: string, send: () => Promise<void>) => {
    if (sent !== undefined) return;
    setSent(what);
    setRefusal(undefined);
    try {
      await send();
    } catch (failure) {
      setSent(undefined);
      const words = failureText(failure);
      if (refusalCode(failure) !== "CONFLICT") setRefusal({ kind: "failed", words });
      else setRefusal({ kind: unheard ? "repeated" : "late", words });
      setUnheard(unheard || refusalCode(failure) === undefined);
    }
  };
  return { sent, refusal, decide };
}

/** Nothing can be decided any more. */
export function isTooLate(refusal: Refusal | undefined): boolean {
  return refusal !== undefined && refusal.kind !== "failed";
}
