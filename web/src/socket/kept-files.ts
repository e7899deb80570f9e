/** What this browser keeps of unsent messages over a reload: uploaded files of a field, and messages on their way. */
import type { Attachment } from "~/wire/generated/Attachment";
import { keep, keptKeys, readKept } from "./kept";

const FILES = "flightstrip.draft-files.";
const OUTBOX = "flightstrip.outbox.";
/** What stands in a session's field. */
export const DRAFT = "flightstrip.draft.";

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

/** A deleted session takes what was not sent to it along: it can be sent to nobody any more. */
export function forgetUnsent(sessionId: string): void {
  for (const kind of [FILES, OUTBOX, DRAFT]) keep(kind + sessionId, undefined);
}

/** Messages of every session and tab that the server is not known to have. */
export interface Unsent {
  count: number;
  /** None of them can have been stored. */
  sure: boolean;
}

export function unsent(): Unsent {
  const sends = keptKeys(OUTBOX).flatMap((key) => read(key) as KeptSend[]);
  return { count: sends.length, sure: sends.every(({ problem }) => problem !== undefined) };
}

function read(key: string): unknown[] {
  try {
    const held: unknown = JSON.parse(readKept(key) ?? "[]");
    return Array.isArray(held) ? held : [];
  } catch {
    return [];
  }
}

function write(key: string, value: readonly unknown[]): void {
  keep(key, value.length === 0 ? undefined : JSON.stringify(value));
}
