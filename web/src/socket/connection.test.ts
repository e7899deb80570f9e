import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeSocket } from "~/testing/fake-socket";
import {
  BACKOFF_MAX_MS,
  BACKOFF_MIN_MS,
  CLOSE_SIGNED_OUT,
  Connection,
  HANDSHAKE_MS,
  PING_EVERY_MS,
  PONG_WAIT_MS,
  VISIBLE_PONG_WAIT_MS,
} from "./connection";

let sockets: FakeSocket[];
let phases: string[];
let events: { signedOut: number; handshakeFailed: number; frames: number };
let connection: Connection;

const socket = () => {
  const newest = sockets.at(-1);
  if (!newest) throw new Error("a socket was opened");
  return newest;
};
/** Lets time pass until the next attempt, and says how much it was. */
function untilNextAttempt(): number {
  const opened = sockets.length;
  let waited = 0;
  while (sockets.length === opened) {
    vi.advanceTimersByTime(BACKOFF_MIN_MS);
    waited += BACKOFF_MIN_MS;
  }
  return waited;
}
const hello = { type: "notification", action: "hello", payload: {} };

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  phases = [];
  events = { signedOut: 0, handshakeFailed: 0, frames: 0 };
  connection = new Connection(
    () => {
      const next = new FakeSocket();
      sockets.push(next);
      return next;
    },
    {
      onPhase: (phase) => phases.push(phase),
      onFrame: () => {
        events.frames += 1;
      },
      onSignedOut: () => {
        events.signedOut += 1;
      },
      onHandshakeFailed: () => {
        events.handshakeFailed += 1;
      },
    },
    () => 1,
  );
  connection.start();
});

afterEach(() => {
  connection.stop();
  vi.useRealTimers();
});

describe("a connection that goes", () => {
  test("is opened again, each time later, up to the most", () => {
    const waits: number[] = [];
    for (let n = 0; n < 8; n++) {
      socket().drop();
      waits.push(untilNextAttempt());
    }
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000]);
    expect(Math.max(...waits)).toBe(BACKOFF_MAX_MS);
  });

  test("starts over with short waits once it did all it is for, not by a frame alone", () => {
    for (let n = 0; n < 3; n++) {
      socket().open();
      socket().receive(hello);
      connection.giveUp();
      untilNextAttempt();
    }
    socket().open();
    socket().receive(hello);
    connection.giveUp();
    expect(untilNextAttempt()).toBe(4_000);
    socket().open();
    connection.settled();
    socket().drop();
    expect(untilNextAttempt()).toBe(BACKOFF_MIN_MS);
  });

  test("by sign-out is not opened again", () => {
    socket().open();
    socket().drop(CLOSE_SIGNED_OUT);
    vi.advanceTimersByTime(60_000);
    expect([sockets.length, events.signedOut, phases.at(-1)]).toEqual([1, 1, "stopped"]);
  });

  test("whose handshake never ends is given up, and says so", () => {
    vi.advanceTimersByTime(HANDSHAKE_MS);
    expect([phases.at(-1), events.handshakeFailed, sockets[0]?.closed]).toEqual(["waiting", 1, true]);
  });
});

describe("a dead socket", () => {
  beforeEach(() => {
    socket().open();
    socket().receive(hello);
  });

  test("is noticed within 45 s", () => {
    vi.advanceTimersByTime(PING_EVERY_MS + PONG_WAIT_MS);
    expect(PING_EVERY_MS + PONG_WAIT_MS).toBeLessThan(45_000);
    expect(socket().actions()).toEqual(["ping"]);
    expect(phases.at(-1)).toBe("waiting");
  });

  test("is noticed 5 s after the page is looked at", () => {
    connection.pageVisible();
    expect(socket().actions()).toEqual(["ping"]);
    vi.advanceTimersByTime(VISIBLE_PONG_WAIT_MS);
    expect(phases.at(-1)).toBe("waiting");
  });

  test("is not one whose answer comes", () => {
    for (let n = 0; n < 10; n++) {
      vi.advanceTimersByTime(PING_EVERY_MS);
      socket().receive({ type: "response", action: "ping", id: `ping${n + 1}` });
    }
    expect(phases.at(-1)).toBe("open");
  });
});

test("a page that is looked at does not wait for the next attempt", () => {
  socket().drop();
  connection.pageVisible();
  expect(sockets.length).toBe(2);
});

test("a frame that is no JSON is ignored, and writing without a connection says so", () => {
  expect(connection.write("x")).toBe(false);
  socket().open();
  socket().onmessage?.({ data: "{" });
  expect(events.frames).toBe(0);
  expect(connection.write(JSON.stringify({ action: "x", payload: {} }))).toBe(true);
});
