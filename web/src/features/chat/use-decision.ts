import { useState } from "react";
import { failureText, refusalCode } from "~/socket/requests";

/** Why a decision did not get through. */
export interface Refusal {
  /** `late`: something else was decided before it; `failed`: it may be tried again. */
  kind: "late" | "failed";
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
  const decide = async (what: string, send: () => Promise<void>) => {
    if (sent !== undefined) return;
    setSent(what);
    setRefusal(undefined);
    try {
      await send();
    } catch (failure) {
      setSent(undefined);
      const kind = refusalCode(failure) === "CONFLICT" ? "late" : "failed";
      setRefusal({ kind, words: failureText(failure) });
    }
  };
  return { sent, refusal, decide };
}
