import { beforeEach, expect, test } from "vitest";
import { queuedPrompts } from "~/store/queue";
import { type AppStore, change, createAppStore } from "~/store/store";
import { openTranscript, receiveMessage } from "~/store/transcripts";
import { aMessage } from "~/testing/builders";
import type { Client } from "./client";
import { QueueCommands } from "./queue-commands";

interface Asked {
  action: string;
  payload: Record<string, unknown>;
  answer(payload: unknown): void;
  refuse(): void;
}

let store: AppStore;
let asked: Asked[];
let listed: number;
let queue: QueueCommands;

/** A queued row as the server would tell of it. */
function row(id: string, position: number, revision: number, content = id) {
  const { seq: _, ...rest } = aMessage({ id, revision, content, author: "user" });
  return { ...rest, queue_position: position };
}

/** Lets everything run that waits for nothing more. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

beforeEach(() => {
  store = createAppStore();
  asked = [];
  listed = 0;
  change(store, (draft) => {
    openTranscript(draft.transcripts, "s1");
    for (const [index, id] of ["a", "b", "c"].entries())
      receiveMessage(draft.transcripts, row(id, index + 1, 1));
  });
  const request = (action: string, payload: Record<string, unknown>) =>
    new Promise((answer, reject) =>
      asked.push({ action, payload, answer, refuse: () => reject(new Error("no")) }),
    );
  const sessions = {
    queue: async () => {
      listed += 1;
    },
  };
  queue = new QueueCommands({ store, request, sessions } as unknown as Client);
});

function shown(): string[] {
  const transcript = store.getState().transcripts.bySession.s1;
  if (!transcript) return [];
  return queuedPrompts(transcript.queue, transcript.rows, transcript.wishes).map(({ text }) => text);
}

test("an order shows at once, and stays when the server confirms it", async () => {
  const done = queue.reorder("s1", ["c", "a", "b"]);
  expect(shown()).toEqual(["c", "a", "b"]);
  asked[0]?.answer({ messages: [row("c", 1, 2), row("a", 2, 2), row("b", 3, 2)] });
  await done;
  expect(shown()).toEqual(["c", "a", "b"]);
  expect(store.getState().transcripts.bySession.s1?.wishes.order).toBeUndefined();
});

test("an order that is refused is taken back, said once, and the queue is listed", async () => {
  const both = Promise.allSettled([
    queue.reorder("s1", ["c", "a", "b"]),
    queue.reorder("s1", ["b", "a", "c"]),
  ]);
  asked[0]?.refuse();
  await settled();
  expect(asked[1]?.payload.message_ids).toEqual(["b", "a", "c"]);
  asked[1]?.refuse();
  expect((await both).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect(shown()).toEqual(["a", "b", "c"]);
  expect(listed).toBe(2);
});

test("the last order wanted is the last one sent, whatever the time of the answers", async () => {
  const first = queue.reorder("s1", ["b", "a", "c"]);
  const second = queue.reorder("s1", ["b", "c", "a"]);
  expect(asked).toHaveLength(1);
  asked[0]?.answer({ messages: [row("b", 1, 2), row("a", 2, 2), row("c", 3, 2)] });
  await settled();
  expect(shown()).toEqual(["b", "c", "a"]);
  expect(asked[1]?.payload.message_ids).toEqual(["b", "c", "a"]);
  asked[1]?.answer({ messages: [row("b", 1, 3), row("c", 2, 3), row("a", 3, 3)] });
  await Promise.all([first, second]);
  expect(shown()).toEqual(["b", "c", "a"]);
});

test("a change of words shows at once and is taken back when refused; a newer revision wins", async () => {
  const refused = queue.rewrite("s1", "a", "mine");
  expect(shown()).toEqual(["mine", "b", "c"]);
  asked[0]?.refuse();
  await expect(refused).rejects.toThrow();
  expect(shown()).toEqual(["a", "b", "c"]);

  const kept = queue.rewrite("s1", "a", "mine");
  change(store, (draft) => receiveMessage(draft.transcripts, row("a", 1, 5, "somebody else's")));
  asked[1]?.answer({ message: row("a", 1, 4, "mine") });
  await kept;
  expect(shown()).toEqual(["somebody else's", "b", "c"]);
});

test("what is taken out disappears at once, and is back when it could not be", async () => {
  const refused = queue.remove("s1", "a");
  expect(shown()).toEqual(["b", "c"]);
  asked[0]?.refuse();
  await expect(refused).rejects.toThrow();
  expect(shown()).toEqual(["a", "b", "c"]);
});
