import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { failureText, REQUEST_MS, Requests, refusalCode } from "./requests";

let written: Array<{ id: string; action: string }>;
let connected: boolean;
let requests: Requests;

beforeEach(() => {
  vi.useFakeTimers();
  written = [];
  connected = true;
  requests = new Requests((text) => {
    if (connected) written.push(JSON.parse(text) as (typeof written)[number]);
    return connected;
  });
});
afterEach(() => {
  vi.useRealTimers();
});

test("answers reach whoever asked, in any order", async () => {
  const first = requests.send("task.pending", { task_id: "t1" });
  const second = requests.send("task.pending", { task_id: "t2" });
  const [a, b] = written;
  requests.receive({
    id: b?.id ?? "",
    type: "response",
    action: "task.pending",
    payload: { requests: ["b"] },
  });
  requests.receive({
    id: a?.id ?? "",
    type: "response",
    action: "task.pending",
    payload: { requests: ["a"] },
  });
  expect([await first, await second]).toEqual([{ requests: ["a"] }, { requests: ["b"] }]);
});

test("a refusal carries the server's code and words", async () => {
  const asked = requests.send("task.delete", { task_id: "t1", discard_changes: false });
  const payload = { code: "CONFLICT", message: "uncommitted work", retry: "never" };
  requests.receive({ id: written[0]?.id ?? "", type: "error", action: "task.delete", payload });
  const failure = await asked.catch((reason: unknown) => reason);
  expect([refusalCode(failure), failureText(failure)]).toEqual(["CONFLICT", "Uncommitted work."]);
});

test("a request without an answer ends at its deadline; a late answer is nobody's", async () => {
  const asked = requests.send("task.pending", { task_id: "t1" }).catch((reason: unknown) => reason);
  vi.advanceTimersByTime(REQUEST_MS);
  expect(await asked).toMatchObject({ reason: "timeout" });
  requests.receive({ id: written[0]?.id ?? "", type: "response", action: "task.pending" });
});

test("without a connection a request fails at once, and one that goes fails all", async () => {
  const open = requests.send("task.pending", { task_id: "t1" }).catch((reason: unknown) => reason);
  requests.failAll();
  expect(await open).toMatchObject({ reason: "disconnected" });
  connected = false;
  const closed = requests.send("task.pending", { task_id: "t1" }).catch((reason: unknown) => reason);
  expect(await closed).toMatchObject({ reason: "disconnected" });
});
