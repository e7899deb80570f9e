import { beforeEach, describe, expect, test, vi } from "vitest";
import { type AppStore, createAppStore } from "~/store/store";
import { aMessage } from "~/testing/builders";
import type { Retry } from "~/wire/generated/Retry";
import { OpenSessions } from "./open-sessions";
import { Requests } from "./requests";

interface Written {
  id: string;
  action: string;
  payload: { session_id: string; before?: number; limit?: number };
}

/** An answer that is none. */
class Refusal {
  readonly code = "BUSY";
  readonly message = "not now";
  constructor(readonly retry: Retry) {}
}

let store: AppStore;
let written: Written[];
let sessions: OpenSessions;
let answer: (frame: Written) => unknown;

const actions = () => written.map(({ action, payload }) => `${action} ${payload.session_id}`);
const quiet = () => vi.waitFor(() => expect(store.getState().transcripts.bySession.s1?.loaded).toBe(true));

beforeEach(() => {
  store = createAppStore();
  written = [];
  answer = () => ({ messages: [], has_more: false });
  const requests: Requests = new Requests((text) => {
    const frame = JSON.parse(text) as Written;
    written.push(frame);
    queueMicrotask(() => {
      const payload = answer(frame);
      const type = payload instanceof Refusal ? "error" : "response";
      requests.receive({ id: frame.id, type, action: frame.action, payload: payload as never });
    });
    return true;
  });
  sessions = new OpenSessions(store, requests);
});

describe("API-08 the set of open sessions", () => {
  test("a session is subscribed before its transcript is listed", async () => {
    sessions.show(["s1"]);
    await quiet();
    expect(actions()).toEqual(["session.subscribe s1", "message.list s1", "message.queue.list s1"]);
  });

  test("an equal set sends nothing, in any order and as often as one likes", async () => {
    sessions.show(["s1", "s2"]);
    await quiet();
    const before = written.length;
    sessions.show(["s2", "s1"]);
    sessions.show(["s1", "s2"]);
    expect(written.length).toBe(before);
  });

  test("a change subscribes what is new and leaves what is gone, and nothing else", async () => {
    sessions.show(["s1", "s2"]);
    await quiet();
    written = [];
    sessions.show(["s1", "s3"]);
    await vi.waitFor(() => expect(store.getState().transcripts.bySession.s3?.loaded).toBe(true));
    expect(actions().filter((action) => action.startsWith("session."))).toEqual([
      "session.unsubscribe s2",
      "session.subscribe s3",
    ]);
  });

  test("API-03 focus is told once and ends with the session", async () => {
    sessions.show(["s1"]);
    sessions.focus("s1");
    sessions.focus("s1");
    await quiet();
    expect(actions().filter((action) => action.includes("focus"))).toEqual(["session.focus s1"]);
    written = [];
    sessions.show([]);
    sessions.focus(undefined);
    expect(actions()).toEqual(["session.unsubscribe s1"]);
  });
});

describe("after a reconnect", () => {
  test("every open session is subscribed again and listed down to what was held", async () => {
    const rows = [8, 7, 6, 5, 4, 3].map((seq) => aMessage({ id: `m${seq}`, seq }));
    answer = ({ action, payload }) => {
      if (action !== "message.list") return { messages: [] };
      const upTo = rows.filter(({ seq = 0 }) => payload.before === undefined || seq < payload.before);
      const page = upTo.slice(0, 3).reverse();
      return { messages: page, has_more: upTo.length > page.length };
    };
    sessions.show(["s1"]);
    await quiet();
    await sessions.older("s1");
    expect(store.getState().transcripts.bySession.s1?.order).toHaveLength(6);
    written = [];
    await sessions.resume(() => false);
    await vi.waitFor(() => expect(store.getState().transcripts.bySession.s1?.loading).toBe("none"));
    expect(actions()[0]).toBe("session.subscribe s1");
    expect(written.filter(({ action }) => action === "message.list")).toHaveLength(2);
    expect(store.getState().transcripts.bySession.s1?.order).toEqual(["m3", "m4", "m5", "m6", "m7", "m8"]);
  });
});

describe("a subscription that is refused", () => {
  const loading = () => store.getState().transcripts.bySession.s1?.loading;
  const refuse = (retry: Retry) => {
    answer = ({ action }) =>
      action === "session.subscribe" ? new Refusal(retry) : { messages: [], has_more: false };
  };

  test("shows as not loaded, and trying again subscribes before it lists", async () => {
    refuse("never");
    sessions.show(["s1"]);
    await vi.waitFor(() => expect(loading()).toBe("failed"));
    expect(actions()).toEqual(["session.subscribe s1"]);
    written = [];
    answer = () => ({ messages: [], has_more: false });
    await sessions.reload("s1");
    expect(actions()).toEqual(["session.subscribe s1", "message.list s1", "message.queue.list s1"]);
    expect(loading()).toBe("none");
  });

  test.each([
    ["never", 1],
    ["later", 3],
  ] as const)("%s after a reconnect is asked %i times", async (retry, times) => {
    sessions.show(["s1"]);
    await quiet();
    written = [];
    refuse(retry);
    vi.useFakeTimers();
    const resumed = sessions.resume(() => false);
    await vi.runAllTimersAsync();
    await resumed;
    vi.useRealTimers();
    expect(actions()).toEqual(Array(times).fill("session.subscribe s1"));
    expect(loading()).toBe("failed");
  });
});

test("one list at a time per session; a wish during it lists again afterwards", async () => {
  sessions.show(["s1"]);
  await vi.waitFor(() => expect(actions()).toContain("message.list s1"));
  await sessions.reload("s1");
  const lists = written.flatMap(({ action }, at) => (action === "message.list" ? [at] : []));
  const queues = written.flatMap(({ action }, at) => (action === "message.queue.list" ? [at] : []));
  expect(lists).toHaveLength(2);
  expect(lists[1]).toBeGreaterThan(queues[0] ?? Number.NaN);
});

test("one message.get at a time per message", async () => {
  answer = ({ action }) =>
    action === "message.get" ? { message: aMessage() } : { messages: [], has_more: false };
  const gap = { session_id: "s1", message_id: "m1", offset: 9, text: "x", revision: 3 };
  await Promise.all([sessions.fetchMessage(gap), sessions.fetchMessage(gap)]);
  expect(actions()).toEqual(["message.get s1"]);
});
