import { useSyncExternalStore } from "react";

/** One timer for the whole page: every age on it is counted from the same moment. */
const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    now = Date.now();
    timer = setInterval(() => {
      now = Date.now();
      for (const tell of listeners) tell();
    }, TICK_MS);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/**
 * The page's clock, rounded down to `everyMs`, so that a component that shows minutes renders once a minute.
 */
export function useNow(everyMs: number = TICK_MS): number {
  return useSyncExternalStore(subscribe, () => Math.floor(now / everyMs) * everyMs);
}
