/** What was typed and not sent, per session, kept by this browser so that no reload loses it. */
import { keep, readKept } from "~/socket/kept";
import { DRAFT } from "~/socket/kept-files";

/** Fields on screen, by session: they hear of words that are put into them from elsewhere. */
const fields = new Map<string, (text: string) => void>();

export function readDraft(sessionId: string): string {
  return readKept(DRAFT + sessionId) ?? "";
}

export function keepDraft(sessionId: string, text: string): void {
  keep(DRAFT + sessionId, text === "" ? undefined : text);
}

/** The field of a session is on screen until the returned function is called. */
export function showField(sessionId: string, onText: (text: string) => void): () => void {
  fields.set(sessionId, onText);
  return () => {
    if (fields.get(sessionId) === onText) fields.delete(sessionId);
  };
}

/** Puts words into the field of a session, after what stands there. */
export function addToDraft(sessionId: string, text: string): void {
  if (text.trim() === "") return;
  const held = readDraft(sessionId);
  const next = held.trim() === "" ? text : `${held.trimEnd()}\n\n${text}`;
  keepDraft(sessionId, next);
  fields.get(sessionId)?.(next);
}
