/** What was typed and not sent, per session, kept by this browser so that no reload loses it. */

const PREFIX = "flightstrip.draft.";

export function readDraft(sessionId: string): string {
  return localStorage.getItem(PREFIX + sessionId) ?? "";
}

export function keepDraft(sessionId: string, text: string): void {
  if (text === "") localStorage.removeItem(PREFIX + sessionId);
  else localStorage.setItem(PREFIX + sessionId, text);
}
