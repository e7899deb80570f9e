/**
 * Whether a text matches the pattern that an agent wants. Browsers try patterns in a way that can take for ever, so one
 * of an agent is tried apart from the page and for a moment only; the server judges in any case, and always soon.
 */

/** A phone opens a worker well within this. */
const PATIENCE_MS = 1_000;

/** What is needed of a worker. */
export interface Judge {
  onmessage: ((event: MessageEvent<boolean | null>) => void) | null;
  onerror: (() => void) | null;
  postMessage(asked: { pattern: string; text: string }): void;
  terminate(): void;
}

function openWorker(): Judge {
  return new Worker(new URL("./pattern-worker.ts", import.meta.url), { type: "module" }) as Judge;
}

/** `undefined` when it cannot be told here. */
export async function fitsPattern(
  pattern: string,
  text: string,
  open: () => Judge = openWorker,
): Promise<boolean | undefined> {
  const judge = open();
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise((resolve) => {
      judge.onmessage = ({ data }) => resolve(data ?? undefined);
      judge.onerror = () => resolve(undefined);
      timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
      judge.postMessage({ pattern, text });
    });
  } finally {
    clearTimeout(timer);
    judge.terminate();
  }
}
