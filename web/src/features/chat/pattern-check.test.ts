import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fitsPattern, type Judge } from "./pattern-check";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A worker that does with a question what the test says. */
class HandJudge implements Judge {
  onmessage: Judge["onmessage"] = null;
  onerror: Judge["onerror"] = null;
  ended = false;

  constructor(
    private readonly answer: (judge: HandJudge, asked: { pattern: string; text: string }) => void,
  ) {}

  postMessage(asked: { pattern: string; text: string }): void {
    this.answer(this, asked);
  }

  terminate(): void {
    this.ended = true;
  }
}

test.each([
  [true, true],
  [false, false],
  [null, undefined],
])("what the worker finds is told: %s", async (found, told) => {
  const judge = new HandJudge((self, asked) => {
    expect(asked).toEqual({ pattern: "^x", text: "xy" });
    self.onmessage?.(new MessageEvent("message", { data: found }));
  });
  expect(await fitsPattern("^x", "xy", () => judge)).toBe(told);
  expect(judge.ended).toBe(true);
});

test("a pattern that takes for ever is given up, and its worker ended", async () => {
  const judge = new HandJudge(() => undefined);
  const asked = fitsPattern("^(x+)+$", "xxxx!", () => judge);
  await vi.advanceTimersByTimeAsync(999);
  expect(judge.ended).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await asked).toBeUndefined();
  expect(judge.ended).toBe(true);
});

test("a worker that does not start leaves it to the server", async () => {
  const judge = new HandJudge((self) => self.onerror?.());
  expect(await fitsPattern("x", "x", () => judge)).toBeUndefined();
});
