import { beforeEach, describe, expect, test } from "vitest";
import { aMessage } from "~/testing/builders";
import type { Message } from "~/wire/generated/Message";
import { type AppStore, change, createAppStore } from "./store";
import {
  beginNewest,
  failOlder,
  finishNewest,
  keepClosed,
  openTranscript,
  receiveAppend,
  receiveMessage,
  receiveOlder,
  removeMessage,
  setSend,
  type Transcript,
  type TranscriptsState,
} from "./transcripts";

let store: AppStore;
const run = <T>(recipe: (state: TranscriptsState) => T): T => {
  let result: T | undefined;
  change(store, (draft) => {
    result = recipe(draft.transcripts);
  });
  return result as T;
};
const shown = (): Transcript => {
  const transcript = store.getState().transcripts.bySession.s1;
  if (!transcript) throw new Error("the session is open");
  return transcript;
};
const receive = (part: Partial<Message>) => run((state) => receiveMessage(state, aMessage(part)));
const append = (offset: number, text: string, revision = 2) =>
  run((state) => receiveAppend(state, { session_id: "s1", message_id: "m1", offset, text, revision }));
const page = (messages: Message[], queued: Message[] = []) => ({ messages, queued, hasOlder: false });

beforeEach(() => {
  store = createAppStore();
  run((state) => openTranscript(state, "s1"));
});

describe("rows", () => {
  test("WEB-07 an older revision does not replace a newer one", () => {
    receive({ revision: 5, content: "new" });
    receive({ revision: 4, content: "old" });
    expect(shown().rows.m1?.content).toBe("new");
  });

  test("PST-05 a row that arrives twice is one row", () => {
    receive({});
    receive({});
    receive({ revision: 2 });
    expect(shown().order).toEqual(["m1"]);
  });

  test("stand in the order of their seq, however they arrive", () => {
    for (const seq of [3, 1, 2]) receive({ id: `m${seq}`, seq });
    expect(shown().order).toEqual(["m1", "m2", "m3"]);
  });

  test("a queued prompt waits apart and joins the conversation when its turn comes", () => {
    const { seq: _, ...queued } = aMessage({ id: "q1", queue_position: 2 });
    const { seq: __, ...sooner } = aMessage({ id: "q2", queue_position: 1 });
    run((state) => receiveMessage(state, queued));
    run((state) => receiveMessage(state, sooner));
    expect([shown().order, shown().queue]).toEqual([[], ["q2", "q1"]]);
    receive({ id: "q2", seq: 4, revision: 2 });
    expect([shown().order, shown().queue]).toEqual([["q2"], ["q1"]]);
  });

  test("of a session that is not open are not kept", () => {
    receive({ session_id: "other" });
    expect(store.getState().transcripts.bySession.other).toBeUndefined();
  });
});

describe.each(["constructor", "__proto__", "toString"])("an id that objects inherit, %s,", (id) => {
  test("is that of a row like any other", () => {
    receive({ id, content: "here" });
    expect(shown().rows[id]?.content).toBe("here");
    run((state) => beginNewest(state, "s1"));
    run((state) => finishNewest(state, "s1", page([])));
    expect(shown().order).toEqual([]);
    run((state) => removeMessage(state, "s1", id));
    receive({ id, revision: 9 });
    expect(shown().order).toEqual([]);
  });

  test("is not that of a session nobody opened", () => {
    receive({ session_id: id });
    expect(Object.keys(store.getState().transcripts.bySession)).toEqual(["s1"]);
  });
});

describe("WEB-03 a deleted row never comes back", () => {
  test("by a late update or append", () => {
    receive({});
    run((state) => removeMessage(state, "s1", "m1"));
    receive({ revision: 99 });
    expect(append(0, "late")).toBe("applied");
    expect(shown().rows).toEqual({});
    expect(shown().order).toEqual([]);
  });

  test("WEB-07 by a list that was in flight", () => {
    receive({});
    run((state) => beginNewest(state, "s1"));
    run((state) => removeMessage(state, "s1", "m1"));
    run((state) => finishNewest(state, "s1", page([aMessage()])));
    expect(shown().rows).toEqual({});
    receive({ revision: 99 });
    expect(shown().rows).toEqual({});
  });
});

describe("appends by the tolerant rules", () => {
  beforeEach(() => receive({ content: "abc" }));

  test("one that ends within what is held adds nothing", () => {
    expect(append(0, "abc")).toBe("applied");
    expect(append(1, "b")).toBe("applied");
    expect(shown().rows.m1?.content).toBe("abc");
  });

  test("one that overlaps adds only what lies beyond", () => {
    append(2, "cde");
    expect(shown().rows.m1?.content).toBe("abcde");
  });

  test("one that starts at the end is added whole, counted in UTF-16 units", () => {
    append(3, "😀");
    append(5, "!", 3);
    expect(shown().rows.m1?.content).toBe("abc😀!");
  });

  test("one beyond the end is a gap and changes nothing", () => {
    expect(append(7, "x")).toBe("gap");
    expect(shown().rows.m1?.content).toBe("abc");
  });

  test("to a row that was cut changes nothing and asks for nothing", () => {
    receive({ content: "cut", content_truncated: true, revision: 7 });
    expect(append(900, "x", 8)).toBe("applied");
    expect(shown().rows.m1?.content).toBe("cut");
  });

  test("raises the revision, so an older full update does not take text away", () => {
    append(3, "def", 9);
    receive({ content: "abc", revision: 8 });
    expect(shown().rows.m1?.content).toBe("abcdef");
  });
});

describe("the newest page", () => {
  test("GWY-05 takes away what it does not name and keeps what came meanwhile", () => {
    receive({ id: "gone", seq: 1 });
    receive({ id: "stays", seq: 2 });
    run((state) => beginNewest(state, "s1"));
    receive({ id: "came", seq: 3 });
    run((state) => finishNewest(state, "s1", page([aMessage({ id: "stays", seq: 2 })])));
    expect(shown().order).toEqual(["stays", "came"]);
    expect(shown().loaded).toBe(true);
  });

  test("does not revert a row that changed meanwhile", () => {
    run((state) => beginNewest(state, "s1"));
    receive({ revision: 6, content: "newer" });
    run((state) => finishNewest(state, "s1", page([aMessage({ revision: 5, content: "older" })])));
    expect(shown().rows.m1?.content).toBe("newer");
  });

  test("goes on when older rows that were asked for before come or fail meanwhile", () => {
    const startOlder = () =>
      run((state) => {
        openTranscript(state, "s1").loading = "older";
      });
    for (const settle of [
      () => run((state) => failOlder(state, "s1")),
      () => run((state) => receiveOlder(state, "s1", { messages: [], hasOlder: false })),
    ]) {
      startOlder();
      run((state) => beginNewest(state, "s1"));
      receive({ id: "came", seq: 3 });
      settle();
      expect(shown().loading).toBe("newest");
      run((state) => finishNewest(state, "s1", page([])));
      expect(shown().order).toEqual(["came"]);
    }
  });

  test("older pages go before what is held", () => {
    receive({ id: "m9", seq: 9 });
    run((state) => receiveOlder(state, "s1", { messages: [aMessage({ id: "m3", seq: 3 })], hasOlder: true }));
    expect(shown().order).toEqual(["m3", "m9"]);
    expect(shown().hasOlder).toBe(true);
  });
});

test("WEB-04 a prompt on its way goes when its row arrives, by whatever way", () => {
  run((state) =>
    setSend(state, "s1", { id: "mine", content: "hi", files: [], state: "sending", problem: undefined }),
  );
  expect(shown().sends).toHaveLength(1);
  receive({ id: "mine", author: "user", content: "hi" });
  expect(shown().sends).toEqual([]);
  run((state) =>
    setSend(state, "s1", { id: "mine", content: "hi", files: [], state: "unknown", problem: undefined }),
  );
  expect(shown().sends).toEqual([]);
});

test("at most five closed transcripts are kept", () => {
  const ids = ["a", "b", "c", "d", "e", "f"];
  for (const id of ids) run((state) => openTranscript(state, id));
  expect(run((state) => keepClosed(state, ids))).toEqual(["b", "c", "d", "e", "f"]);
  expect(store.getState().transcripts.bySession.a).toBeUndefined();
});
