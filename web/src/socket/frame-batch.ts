/**
 * Collects what arrives during one animation frame and applies it in one store transaction (WEB-02).
 *
 * Invariants: of a message only the newest full update survives a frame, at the place where the message first
 * appeared; its appends join in offset order; a full update replaces what was collected of it. A barrier (a row
 * added or deleted, a turn settled) applies everything before it first, in the same transaction (WEB-03).
 * It knows neither React nor a clock: the scheduler is handed in.
 */

import { type AppState, type AppStore, change } from "~/store/store";
import { type AppendOutcome, receiveAppend, receiveMessage } from "~/store/transcripts";
import type { Message } from "~/wire/generated/Message";
import type { MessageAppended } from "~/wire/generated/MessageAppended";

/** Calls `flush` once, soon; returns how to call it off. */
export type FrameScheduler = (flush: () => void) => () => void;

type Recipe = (draft: AppState) => void;

/** What a frame holds of one message: a full update, appends after it, or both. */
interface MessageChange {
  kind: "message";
  update: Message | undefined;
  appends: MessageAppended[];
}

type Entry = MessageChange | { kind: "recipe"; recipe: Recipe };

export class FrameBatch {
  private entries: Entry[] = [];
  private readonly byMessage = new Map<string, MessageChange>();
  private cancel: (() => void) | undefined;

  constructor(
    private readonly store: AppStore,
    private readonly schedule: FrameScheduler,
    /** Told after a transaction in which an append did not reach the text held. */
    private readonly onGap: (append: MessageAppended) => void,
  ) {}

  /** A complete state of a message. */
  update(message: Message): void {
    const entry = this.messageEntry(message.id);
    if (entry.update && entry.update.revision > message.revision) return;
    entry.update = message;
    entry.appends = entry.appends.filter((append) => append.revision > message.revision);
    this.wake();
  }

  append(append: MessageAppended): void {
    this.messageEntry(append.message_id).appends.push(append);
    this.wake();
  }

  /** Any other change that may wait for the frame, in its order. */
  add(recipe: Recipe): void {
    this.entries.push({ kind: "recipe", recipe });
    this.wake();
  }

  /** A change that must not wait, nor overtake what came before it. */
  barrier(recipe: Recipe): void {
    this.entries.push({ kind: "recipe", recipe });
    this.flush();
  }

  flush(): void {
    this.cancel?.();
    this.cancel = undefined;
    if (this.entries.length === 0) return;
    const entries = this.entries;
    this.entries = [];
    this.byMessage.clear();
    const gaps: MessageAppended[] = [];
    change(this.store, (draft) => {
      for (const entry of entries) {
        if (entry.kind === "recipe") entry.recipe(draft);
        else applyMessage(draft, entry, gaps);
      }
    });
    for (const gap of gaps) this.onGap(gap);
  }

  /** Drops what is collected: the connection is gone and everything will be listed anew. */
  clear(): void {
    this.cancel?.();
    this.cancel = undefined;
    this.entries = [];
    this.byMessage.clear();
  }

  private messageEntry(id: string): MessageChange {
    const held = this.byMessage.get(id);
    if (held) return held;
    const entry: MessageChange = { kind: "message", update: undefined, appends: [] };
    this.byMessage.set(id, entry);
    this.entries.push(entry);
    return entry;
  }

  private wake(): void {
    this.cancel ??= this.schedule(() => this.flush());
  }
}

function applyMessage(draft: AppState, entry: MessageChange, gaps: MessageAppended[]): void {
  if (entry.update) receiveMessage(draft.transcripts, entry.update);
  entry.appends.sort((a, b) => a.offset - b.offset);
  for (const append of entry.appends) {
    const outcome: AppendOutcome = receiveAppend(draft.transcripts, append);
    if (outcome === "gap") {
      gaps.push(append);
      return;
    }
  }
}
