import { useCallback, useEffect, useState } from "react";
import { failureText } from "~/socket/requests";

export type Answer<T> =
  | { state: "loading" }
  | { state: "answered"; value: T }
  | { state: "failed"; problem: string };

/**
 * The answer to a look-up that belongs to what is on screen and to nothing else (branches of a repository, a diff).
 * Entities never come this way: they live in the store. A late answer to an earlier question is dropped.
 */
export function useAnswer<T>(ask: () => Promise<T>, question: string): Answer<T> & { again(): void } {
  const [answer, setAnswer] = useState<Answer<T>>({ state: "loading" });
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `question` and `round` name what `ask` asks.
  useEffect(() => {
    let current = true;
    setAnswer((held) => (held.state === "answered" && round > 0 ? held : { state: "loading" }));
    ask().then(
      (value) => current && setAnswer({ state: "answered", value }),
      (failure: unknown) => current && setAnswer({ state: "failed", problem: failureText(failure) }),
    );
    return () => {
      current = false;
    };
  }, [question, round]);
  const again = useCallback(() => setRound((held) => held + 1), []);
  return { ...answer, again };
}
