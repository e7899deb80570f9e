/**
 * Transcripts of the sessions that were opened, and the prompts on their way.
 *
 * Invariants: an older revision never replaces a newer one (WEB-07); a deleted row never comes back while its
 * tombstone lives (WEB-03); a list in flight is applied together with everything that happened meanwhile; appends
 * are applied by what they add to the text held, whatever was lost or repeated on the way.
 */
import type { Message } from "~/wire/generated/Message";
import type { MessageAppended } from "~/wire/generated/MessageAppended";
import type { RequestStatus } from "~/wire/generated/RequestStatus";
import { noWishes, type QueueWishes } from "./queue";
import { emptyRecord } from "./records";

/** A prompt this page sent and has not yet seen stored (WEB-04). */
export interface Send {
  id: string;
  content: string;
  /** Its files, by the ids they have on this page. */
  files: readonly string[];
  /**
   * `uploading`: its files are on their way and it waits for them. `unknown` only after the bounded reconciliation;
   * `refused` with the server's words: it has surely not been sent.
   */
  state: "uploading" | "sending" | "unknown" | "refused";
  problem: string | undefined;
}

export interface Transcript {
  rows: Record<string, Message>;
  /** Rows of the conversation by `seq`. */
  order: string[];
  /** Queued prompts by position; they have no `seq` yet. */
  queue: string[];
  wishes: QueueWishes;
  sends: Send[];
  tombstones: Record<string, true>;
  loading: "none" | "newest" | "older" | "failed";
  loaded: boolean;
  hasOlder: boolean;
  /** Ids added, changed or deleted while the newest page is in flight. */
  touched: Record<string, true> | undefined;
}

export interface TranscriptsState {
  bySession: Record<string, Transcript>;
}

export const initialTranscripts: TranscriptsState = { bySession: emptyRecord() };

/** How many transcripts of sessions no longer shown are kept for a quick return. */
export const CLOSED_TRANSCRIPTS_KEPT = 5;

function newTranscript(): Transcript {
  return {
    rows: emptyRecord(),
    order: [],
    queue: [],
    wishes: noWishes(),
    sends: [],
    tombstones: emptyRecord(),
    loading: "none",
    loaded: false,
    hasOlder: false,
    touched: undefined,
  };
}

/** The transcript of a session, made when first asked for. */
export function openTranscript(state: TranscriptsState, sessionId: string): Transcript {
  state.bySession[sessionId] ??= newTranscript();
  return state.bySession[sessionId] as Transcript;
}

/** Rows of a session nobody opened are not kept: the next opening lists them. */
export function receiveMessage(state: TranscriptsState, message: Message): void {
  const transcript = state.bySession[message.session_id];
  if (!transcript || transcript.tombstones[message.id]) return;
  if (transcript.touched) transcript.touched[message.id] = true;
  mergeMessage(transcript, message);
}

function mergeMessage(transcript: Transcript, message: Message): void {
  const held = transcript.rows[message.id];
  if (held && held.revision >= message.revision) return;
  transcript.rows[message.id] = message;
  if (transcript.sends.some((send) => send.id === message.id)) {
    transcript.sends = transcript.sends.filter((send) => send.id !== message.id);
  }
  if (held?.seq !== message.seq || !held) place(transcript, message);
  else if (held.queue_position !== message.queue_position) sortQueue(transcript);
}

function place(transcript: Transcript, message: Message): void {
  const { id, seq } = message;
  if (seq === undefined) {
    if (!transcript.queue.includes(id)) transcript.queue.push(id);
    sortQueue(transcript);
    return;
  }
  if (transcript.queue.includes(id)) transcript.queue = transcript.queue.filter((queued) => queued !== id);
  const at = transcript.order.indexOf(id);
  if (at >= 0) transcript.order.splice(at, 1);
  transcript.order.splice(placeOf(transcript, seq), 0, id);
}

/** Where a row of this `seq` belongs; almost always the end. */
function placeOf(transcript: Transcript, seq: number): number {
  let end = transcript.order.length;
  while (end > 0 && seqAt(transcript, end - 1) > seq) end -= 1;
  return end;
}

function seqAt(transcript: Transcript, index: number): number {
  const id = transcript.order[index];
  return (id === undefined ? undefined : transcript.rows[id]?.seq) ?? 0;
}

function sortQueue(transcript: Transcript): void {
  const position = (id: string) => transcript.rows[id]?.queue_position ?? Number.MAX_SAFE_INTEGER;
  transcript.queue.sort((a, b) => position(a) - position(b));
}

export type AppendOutcome =
  /** The text grew, or nothing in the append was new. */
  | "applied"
  /** Text before the append is missing: the row must be fetched. */
  | "gap";

/** An append by the tolerant rules: offsets count UTF-16 units, which is what a string's length counts. */
export function receiveAppend(state: TranscriptsState, append: MessageAppended): AppendOutcome {
  const transcript = state.bySession[append.session_id];
  if (!transcript || transcript.tombstones[append.message_id]) return "applied";
  const row = transcript.rows[append.message_id];
  if (!row) return transcript.touched ? "applied" : "gap";
  // The text beyond the cut is to be had by HTTP; appends cannot reach it.
  if (row.content_truncated) return "applied";
  const held = row.content.length;
  if (append.offset > held) return "gap";
  if (transcript.touched) transcript.touched[row.id] = true;
  if (append.offset + append.text.length > held) row.content += append.text.slice(held - append.offset);
  row.revision = Math.max(row.revision, append.revision);
  return "applied";
}

export function removeMessage(state: TranscriptsState, sessionId: string, messageId: string): void {
  const transcript = state.bySession[sessionId];
  if (!transcript) return;
  transcript.tombstones[messageId] = true;
  if (transcript.touched) transcript.touched[messageId] = true;
  dropRow(transcript, messageId);
}

function dropRow(transcript: Transcript, id: string): void {
  delete transcript.rows[id];
  transcript.order = transcript.order.filter((other) => other !== id);
  transcript.queue = transcript.queue.filter((other) => other !== id);
}

/** A request got its answer; the row's own update follows and has the last word. */
export function resolveRequest(
  state: TranscriptsState,
  sessionId: string,
  request: { message_id: string; status: RequestStatus },
): void {
  const row = state.bySession[sessionId]?.rows[request.message_id];
  if (row) row.status = request.status;
}

/** The newest rows will be listed; what a list in flight remembers is left to it. */
export function awaitNewest(state: TranscriptsState, sessionId: string): void {
  openTranscript(state, sessionId).loading = "newest";
}

/** From now until the list is finished or failed everything that happens is remembered: one list at a time. */
export function beginNewest(state: TranscriptsState, sessionId: string): void {
  const transcript = openTranscript(state, sessionId);
  transcript.loading = "newest";
  transcript.touched = emptyRecord();
}

/**
 * The newest rows of the conversation, without a gap. Everything held that they do not name is gone, except what
 * arrived while the list was in flight; a row deleted in that time stays deleted.
 */
export function finishNewest(
  state: TranscriptsState,
  sessionId: string,
  newest: { messages: Message[]; queued: Message[]; hasOlder: boolean },
): void {
  const transcript = openTranscript(state, sessionId);
  const touched = transcript.touched ?? emptyRecord();
  const listed = [...newest.messages, ...newest.queued];
  const named = new Set(listed.map((message) => message.id));
  for (const id of Object.keys(transcript.rows)) {
    if (!named.has(id) && !touched[id]) dropRow(transcript, id);
  }
  for (const message of listed) if (!transcript.tombstones[message.id]) mergeMessage(transcript, message);
  for (const id of Object.keys(transcript.tombstones)) if (!touched[id]) delete transcript.tombstones[id];
  transcript.touched = undefined;
  transcript.loading = "none";
  transcript.loaded = true;
  transcript.hasOlder = newest.hasOlder;
}

/** A page of older rows, put before those held. */
export function receiveOlder(
  state: TranscriptsState,
  sessionId: string,
  page: { messages: Message[]; hasOlder: boolean },
): void {
  const transcript = openTranscript(state, sessionId);
  for (const message of page.messages) {
    if (!transcript.tombstones[message.id]) mergeMessage(transcript, message);
  }
  // A list of the newest rows that began meanwhile goes on.
  if (transcript.loading === "newest") return;
  transcript.loading = "none";
  transcript.hasOlder = page.hasOlder;
}

/** A list of the newest rows that began meanwhile goes on, with what it remembers. */
export function failOlder(state: TranscriptsState, sessionId: string): void {
  const transcript = openTranscript(state, sessionId);
  if (transcript.loading === "older") transcript.loading = "failed";
}

/** The session could not be subscribed; what a list in flight remembers is left to it. */
export function failOpening(state: TranscriptsState, sessionId: string): void {
  openTranscript(state, sessionId).loading = "failed";
}

/** The list of the newest rows failed. */
export function failLoading(state: TranscriptsState, sessionId: string): void {
  const transcript = openTranscript(state, sessionId);
  transcript.loading = "failed";
  transcript.touched = undefined;
}

export function setSend(state: TranscriptsState, sessionId: string, send: Send): void {
  const transcript = openTranscript(state, sessionId);
  if (transcript.rows[send.id]) return;
  transcript.sends = [...transcript.sends.filter((other) => other.id !== send.id), send];
}

export function dropSend(state: TranscriptsState, sessionId: string, sendId: string): void {
  const transcript = openTranscript(state, sessionId);
  transcript.sends = transcript.sends.filter((send) => send.id !== sendId);
}

/** Forgets the transcripts closed longest ago. `closed` is in the order they were closed. */
export function keepClosed(state: TranscriptsState, closed: readonly string[]): string[] {
  const kept = closed.slice(-CLOSED_TRANSCRIPTS_KEPT);
  for (const id of closed) if (!kept.includes(id)) delete state.bySession[id];
  return kept;
}

export function forgetMessageRevisions(state: TranscriptsState): void {
  for (const transcript of Object.values(state.bySession)) {
    for (const row of Object.values(transcript.rows)) row.revision = -1;
  }
}
