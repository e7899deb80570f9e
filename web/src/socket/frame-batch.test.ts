import { beforeEach, describe, expect, test } from "vitest";
import { type AppStore, change, createAppStore } from "~/store/store";
import { openTranscript, receiveMessage, removeMessage } from "~/store/transcripts";
import { aMessage } from "~/testing/builders";
import { HandScheduler } from "~/testing/hand-scheduler";
import type { MessageAppended } from "~/wire/generated/MessageAppended";
import { FrameBatch } from "./frame-batch";

let store: AppStore;
let frames: HandScheduler;
let batch: FrameBatch;
let gaps: MessageAppended[];
let notifications: number;

const transcript = () => store.getState().transcripts.bySession.s1;
const append = (offset: number, text: string, revision: number, id = "m1"): MessageAppended => ({
  session_id: "s1",
  message_id: id,
  offset,
  text,
  revision,
});

beforeEach(() => {
  store = createAppStore();
  change(store, (draft) => openTranscript(draft.transcripts, "s1"));
  frames = new HandScheduler();
  gaps = [];
  batch = new FrameBatch(store, frames.schedule, (gap) => gaps.push(gap));
  notifications = 0;
  store.subscribe(() => {
    notifications += 1;
  });
});

describe("WEB-02 one transaction per animation frame", () => {
  test("1,000 updates of 10 messages are one notification with the newest of each", () => {
    for (let n = 1; n <= 1_000; n++) {
      batch.update(aMessage({ id: `m${n % 10}`, seq: (n % 10) + 1, revision: n, content: `text ${n}` }));
    }
    expect(notifications).toBe(0);
    frames.frame();
    expect(notifications).toBe(1);
    expect(transcript()?.rows.m0?.content).toBe("text 1000");
    expect(transcript()?.order).toHaveLength(10);
  });

  test("1,000 appends of one message are one notification and the whole text", () => {
    change(store, (draft) => receiveMessage(draft.transcripts, aMessage()));
    notifications = 0;
    for (let n = 0; n < 1_000; n++) batch.append(append(n, "x", n + 2));
    frames.frame();
    expect(notifications).toBe(1);
    expect(transcript()?.rows.m1?.content).toBe("x".repeat(1_000));
  });

  test("only what is concerned changes: other rows stay the same objects", () => {
    change(store, (draft) => receiveMessage(draft.transcripts, aMessage({ id: "other", seq: 2 })));
    const before = transcript()?.rows.other;
    const tasks = store.getState().tasks;
    batch.update(aMessage());
    frames.frame();
    expect(transcript()?.rows.other).toBe(before);
    expect(store.getState().tasks).toBe(tasks);
  });

  test("an older update of the same frame does not win by coming later", () => {
    batch.update(aMessage({ revision: 5, content: "new" }));
    batch.update(aMessage({ revision: 4, content: "old" }));
    frames.frame();
    expect(transcript()?.rows.m1?.content).toBe("new");
  });

  test("appends of a frame join in offset order", () => {
    batch.update(aMessage({ content: "a" }));
    batch.append(append(3, "d", 4));
    batch.append(append(1, "bc", 3));
    frames.frame();
    expect(transcript()?.rows.m1?.content).toBe("abcd");
    expect(gaps).toEqual([]);
  });

  test("a full update replaces the appends collected before it", () => {
    batch.append(append(50, "lost", 2));
    batch.update(aMessage({ revision: 3, content: "whole" }));
    batch.append(append(5, "!", 4));
    frames.frame();
    expect(transcript()?.rows.m1?.content).toBe("whole!");
    expect(gaps).toEqual([]);
  });

  test("an append that does not reach the text held asks for the row, once the frame is applied", () => {
    batch.update(aMessage({ content: "a" }));
    batch.append(append(9, "z", 3));
    frames.frame();
    expect(gaps.map((gap) => gap.message_id)).toEqual(["m1"]);
  });

  test("nothing collected is nothing scheduled", () => {
    batch.flush();
    expect([notifications, frames.pending]).toEqual([0, 0]);
  });
});

describe("WEB-03 barriers", () => {
  test("a deletion applies what came before it, in the same transaction", () => {
    batch.update(aMessage({ content: "text" }));
    batch.barrier((draft) => removeMessage(draft.transcripts, "s1", "m1"));
    expect(notifications).toBe(1);
    expect(transcript()?.rows).toEqual({});
    expect(frames.pending).toBe(0);
  });

  test("an update after the deletion does not bring the row back", () => {
    batch.barrier((draft) => removeMessage(draft.transcripts, "s1", "m1"));
    batch.update(aMessage({ revision: 9 }));
    frames.frame();
    expect(transcript()?.rows).toEqual({});
  });

  test("changes keep the order in which they came", () => {
    const seen: string[] = [];
    batch.add(() => seen.push("first"));
    batch.add(() => seen.push("second"));
    batch.barrier(() => seen.push("barrier"));
    expect(seen).toEqual(["first", "second", "barrier"]);
  });
});
