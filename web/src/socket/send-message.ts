/**
 * Sending a prompt whose fate may be unknown for a while (WEB-04).
 *
 * The row's id is ours, so the prompt can be looked for and sent again without ever being said twice. Order: send;
 * one list; wait for a connection; one retry with the same id and the same files; one list; only then "unknown".
 */

import type { Message } from "~/wire/generated/Message";
import type { MessageAdd } from "~/wire/generated/MessageAdd";
import { failureText, RequestFailed, SEND_MS, SEND_WITH_FILES_MS } from "./requests";

/** How long the retry waits for a connection. */
export const RECONNECT_WAIT_MS = 3_000;

export type SendOutcome =
  | { kind: "stored"; message: Message | undefined }
  | { kind: "refused"; message: string }
  | { kind: "unknown" };

/** What sending needs of the outside. */
export interface SendPort {
  add(payload: MessageAdd, deadlineMs: number): Promise<Message>;
  /** Lists the session once and says whether the id is there, or already arrived by notification. */
  look(sessionId: string, messageId: string): Promise<boolean>;
  /** Resolves when there is a ready connection, or when the time is over. */
  waitReady(ms: number): Promise<boolean>;
}

type Attempt = SendOutcome | { kind: "uncertain" };

export async function sendMessage(
  port: SendPort,
  payload: MessageAdd & { client_message_id: string },
): Promise<SendOutcome> {
  const first = await attempt(port, payload);
  if (first.kind !== "uncertain") return first;
  if (await found(port, payload)) return { kind: "stored", message: undefined };
  if (await port.waitReady(RECONNECT_WAIT_MS)) {
    const second = await attempt(port, payload);
    if (second.kind !== "uncertain") return second;
  }
  if (await found(port, payload)) return { kind: "stored", message: undefined };
  return { kind: "unknown" };
}

async function attempt(port: SendPort, payload: MessageAdd): Promise<Attempt> {
  try {
    return { kind: "stored", message: await port.add(payload, deadlineOf(payload)) };
  } catch (failure) {
    if (!(failure instanceof RequestFailed) || failure.reason !== "refused") return { kind: "uncertain" };
    if (failure.error?.retry === "same_id") return { kind: "uncertain" };
    return { kind: "refused", message: failureText(failure) };
  }
}

async function found(port: SendPort, payload: MessageAdd & { client_message_id: string }): Promise<boolean> {
  try {
    return await port.look(payload.session_id, payload.client_message_id);
  } catch {
    return false;
  }
}

/** Files are read again when their message is accepted, so its answer may take longer. */
function deadlineOf(payload: MessageAdd): number {
  return payload.attachments?.length ? SEND_WITH_FILES_MS : SEND_MS;
}
