/** What this browser keeps of unsent messages over a reload: uploaded files of a field, and messages on their way. */
import type { Attachment } from "~/wire/generated/Attachment";

const FILES = "flightstrip.draft-files.";
const OUTBOX = "flightstrip.outbox.";

/** A message that was being sent. */
export interface KeptSend {
  id: string;
  content: string;
  attachments: Attachment[];
  /** Why it has surely not been stored; without one its fate is unknown. */
  problem?: string | undefined;
  /** The page that sends it. */
  page?: string | undefined;
}

export function readFiles(sessionId: string): Attachment[] {
  return read(FILES + sessionId) as Attachment[];
}

export function keepFiles(sessionId: string, attachments: readonly Attachment[]): void {
  write(FILES + sessionId, attachments);
}

export function readOutbox(sessionId: string): KeptSend[] {
  return read(OUTBOX + sessionId) as KeptSend[];
}

export function keepSend(sessionId: string, send: KeptSend): void {
  write(OUTBOX + sessionId, [...readOutbox(sessionId).filter(({ id }) => id !== send.id), send]);
}

export function forgetKeptSend(sessionId: string, id: string): void {
  const held = readOutbox(sessionId);
  if (held.length > 0)
    write(
      OUTBOX + sessionId,
      held.filter((send) => send.id !== id),
    );
}

function read(key: string): unknown[] {
  try {
    const held: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(held) ? held : [];
  } catch {
    return [];
  }
}

function write(key: string, value: readonly unknown[]): void {
  try {
    if (value.length === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A full store keeps nothing more; the page itself goes on.
  }
}
