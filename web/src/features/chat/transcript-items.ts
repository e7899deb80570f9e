/** What the transcript draws, top to bottom: rows of the conversation, then prompts not yet known to be stored. */
import type { Send, Transcript } from "~/store/transcripts";
import type { Message } from "~/wire/generated/Message";
import { isOpenRequest } from "./message-metadata";

export type TranscriptItem =
  | {
      kind: "message";
      key: string;
      message: Message;
      /** Belongs to the row above: one of a run of actions. */
      tight: boolean;
    }
  | { kind: "send"; key: string; send: Send };

export function transcriptItems(transcript: Transcript): TranscriptItem[] {
  const items: TranscriptItem[] = [];
  let above: Message | undefined;
  for (const id of transcript.order) {
    const message = transcript.rows[id];
    if (!message || !isVisible(message)) continue;
    items.push({ kind: "message", key: id, message, tight: isAction(message) && isAction(above) });
    above = message;
  }
  for (const send of transcript.sends) items.push({ kind: "send", key: send.id, send });
  return items;
}

/** A line about something the agent did, as opposed to something to read. */
function isAction(message: Message | undefined): boolean {
  if (message?.type === "permission_request") return !isOpenRequest(message);
  return message?.type === "tool_call";
}

/** A text row that has no text yet shows nothing; the working line says that something comes. */
function isVisible(message: Message): boolean {
  const isText = message.type === "message" || message.type === "thought";
  return !isText || message.content.trim() !== "";
}
