/** What the transcript draws, top to bottom: rows of the conversation, then prompts not yet known to be stored. */
import type { Send, Transcript } from "~/store/transcripts";
import type { Message } from "~/wire/generated/Message";

export type TranscriptItem =
  | { kind: "message"; key: string; message: Message }
  | { kind: "send"; key: string; send: Send };

export function transcriptItems(transcript: Transcript): TranscriptItem[] {
  const items: TranscriptItem[] = [];
  for (const id of transcript.order) {
    const message = transcript.rows[id];
    if (message && isVisible(message)) items.push({ kind: "message", key: id, message });
  }
  for (const send of transcript.sends) items.push({ kind: "send", key: send.id, send });
  return items;
}

/** A text row that has no text yet shows nothing; the working line says that something comes. */
function isVisible(message: Message): boolean {
  const isText = message.type === "message" || message.type === "thought";
  return !isText || message.content.trim() !== "";
}
