/**
 * The queue as it is shown: what the server last said, with what a person has changed since and the server has not
 * confirmed. A wish is dropped when its request is answered; by then the rows say what became of it.
 */
import type { Message } from "~/wire/generated/Message";
import { emptyRecord } from "./records";

export interface QueueWishes {
  /** The order wanted: ids of queued prompts. */
  order: readonly string[] | undefined;
  /** New texts by id. */
  texts: Record<string, string>;
  /** Prompts to be taken out. */
  gone: Record<string, true>;
}

export function noWishes(): QueueWishes {
  return { order: undefined, texts: emptyRecord(), gone: emptyRecord() };
}

export interface QueuedPrompt {
  message: Message;
  text: string;
  /** The text shown is not confirmed yet. */
  changing: boolean;
}

/** The queued prompts in the order to show. One that a wished order does not name comes after those it names. */
export function queuedPrompts(
  queue: readonly string[],
  rows: Readonly<Record<string, Message>>,
  wishes: QueueWishes,
): QueuedPrompt[] {
  const order = wishes.order ?? [];
  const named = order.filter((id) => queue.includes(id));
  const ids = [...named, ...queue.filter((id) => !named.includes(id))];
  return ids.flatMap((id) => {
    const message = rows[id];
    if (!message || wishes.gone[id]) return [];
    const text = wishes.texts[id];
    return [{ message, text: text ?? message.content, changing: text !== undefined }];
  });
}

/** The list with one of its ids at another place, from 0; a place beyond the ends is the end. */
export function moved(ids: readonly string[], id: string, to: number): string[] {
  const others = ids.filter((other) => other !== id);
  if (others.length === ids.length) return [...ids];
  const at = Math.max(0, Math.min(others.length, to));
  return [...others.slice(0, at), id, ...others.slice(at)];
}
