/**
 * A person's work as this browser keeps it over a reload: drafts, answers begun, messages on their way.
 *
 * Invariant: nothing is kept for nobody. Without a secret nothing is written, so that what ends late, in this tab or in
 * another one, leaves nothing behind after a sign-out.
 */
import { readSecret } from "./secret";

const OURS = "flightstrip.";
/** How the page looks is the browser's, whoever uses it. */
const LOOK = "flightstrip.preferences";

export function readKept(key: string): string | undefined {
  return localStorage.getItem(key) ?? undefined;
}

/** Keeps a text; `undefined` forgets it. A full store keeps nothing more; the page itself goes on. */
export function keep(key: string, text: string | undefined): void {
  try {
    if (text === undefined) localStorage.removeItem(key);
    else if (readSecret() !== undefined) localStorage.setItem(key, text);
  } catch {
    // What is on screen is still there.
  }
}

/** The keys of ours that begin so. */
export function keptKeys(prefix: string): string[] {
  return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
}

/** Forgets everything that is the person's. */
export function forgetKept(): void {
  for (const key of keptKeys(OURS)) if (key !== LOOK) localStorage.removeItem(key);
}
