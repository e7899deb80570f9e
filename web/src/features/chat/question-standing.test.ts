import { expect, test } from "vitest";
import { aMessage, EARLY } from "~/testing/builders";
import type { Message } from "~/wire/generated/Message";
import { overtakenBy, QUESTION_WAITS_MS, standingOf } from "./question-standing";

const NOW = Date.parse(EARLY) + 60_000;
const asked = (part: Partial<Message> = {}) => [
  {
    message: aMessage({ type: "clarification_request", status: "pending", turn_id: "u1", ...part }),
    clarification: {
      index: 0,
      count: 1,
      question: { text: "Which?", options: [], multi_select: false, free_text: true },
    },
  },
];
const running = { state: "RUNNING", pending_action: "clarification" } as const;
const idle = { state: "WAITING_FOR_INPUT", pending_action: "clarification" } as const;

test("the agent waits while its turn is open, and not for ever", () => {
  expect(standingOf(asked(), "no", running, NOW)).toBe("waiting");
  expect(standingOf(asked(), "no", idle, NOW)).toBe("detached");
  expect(standingOf(asked(), "no", running, NOW + QUESTION_WAITS_MS)).toBe("detached");
});

test("PEN-04: a newer message ends it, whatever the row says; a resumed agent does not", () => {
  expect(standingOf(asked(), "prompt", running, NOW)).toBe("superseded");
  expect(standingOf(asked(), "turn", idle, NOW)).toBe("detached");
  expect(standingOf(asked(), "turn", { state: "RUNNING" }, NOW)).toBe("superseded");
});

test.each(["answered", "rejected", "cancelled", "expired"] as const)("%s is settled", (status) => {
  expect(standingOf(asked({ status }), "prompt", running, NOW)).toBe("settled");
});

test("a question without a status waits: no request is lost", () => {
  const [{ message, clarification }] = asked() as [ReturnType<typeof asked>[number]];
  const { status: _, ...rest } = message;
  expect(standingOf([{ message: rest, clarification }], "no", running, NOW)).toBe("waiting");
});

test("what comes after says whether it overtakes", () => {
  const later = (...rows: Array<Partial<Message>>) => overtakenBy("u1", rows.map(aMessage));
  expect(later({ turn_id: "u1", author: "user" })).toBe("no");
  expect(later({ author: "user" })).toBe("no");
  expect(later({ turn_id: "u2" })).toBe("turn");
  expect(later({ turn_id: "u2" }, { turn_id: "u3", author: "user" })).toBe("prompt");
});
