/** What the transcript draws, top to bottom: rows of the conversation, then prompts not yet known to be stored. */
import type { Send, Transcript } from "~/store/transcripts";
import type { Message } from "~/wire/generated/Message";
import { clarificationOf, isOpenRequest } from "./message-metadata";
import type { QuestionRow } from "./question-answers";
import { type Overtaken, overtakenBy } from "./question-standing";

export type TranscriptItem =
  | {
      kind: "message";
      key: string;
      message: Message;
      /** Belongs to the row above: one of a run of actions. */
      tight: boolean;
    }
  | {
      /** Questions that were asked together and are answered together. */
      kind: "questions";
      key: string;
      pendingId: string;
      rows: QuestionRow[];
      overtaken: Overtaken;
    }
  | { kind: "send"; key: string; send: Send };

type Questions = Extract<TranscriptItem, { kind: "questions" }>;

export function transcriptItems(transcript: Transcript): TranscriptItem[] {
  const items: TranscriptItem[] = [];
  const bundles = new Map<string, Questions>();
  let above: Message | undefined;
  for (const [at, id] of transcript.order.entries()) {
    const message = transcript.rows[id];
    if (!message || !isVisible(message)) continue;
    const clarification = message.type === "clarification_request" ? clarificationOf(message) : undefined;
    if (clarification && message.pending_id !== undefined) {
      const held = bundles.get(message.pending_id);
      if (held) held.rows.push({ message, clarification });
      else {
        const item: Questions = {
          kind: "questions",
          key: id,
          pendingId: message.pending_id,
          rows: [{ message, clarification }],
          overtaken: isOpenRequest(message) ? overtakenBy(message.turn_id, after(transcript, at)) : "no",
        };
        bundles.set(message.pending_id, item);
        items.push(item);
      }
    } else {
      items.push({ kind: "message", key: id, message, tight: isAction(message) && isAction(above) });
    }
    above = message;
  }
  for (const bundle of bundles.values()) {
    bundle.rows.sort((a, b) => a.clarification.index - b.clarification.index);
  }
  for (const send of transcript.sends) items.push({ kind: "send", key: send.id, send });
  return items;
}

function* after(transcript: Transcript, at: number): Generator<Message> {
  for (let index = at + 1; index < transcript.order.length; index++) {
    const id = transcript.order[index];
    const message = id === undefined ? undefined : transcript.rows[id];
    if (message) yield message;
  }
}

/** A line about something the agent did, as opposed to something to read. */
function isAction(message: Message | undefined): boolean {
  if (message?.type === "permission_request") return !isOpenRequest(message);
  return message?.type === "tool_call";
}

/** A text row that has no text yet shows nothing; the working line says that something comes. */
function isVisible(message: Message): boolean {
  const isText = message.type === "message" || message.type === "thought";
  return !isText || message.content.trim() !== "" || (message.attachments?.length ?? 0) > 0;
}
