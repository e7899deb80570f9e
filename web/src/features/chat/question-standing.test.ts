import { expect, test } from "vitest";
import { aMessage } from "~/testing/builders";
import type { Message } from "~/wire/generated/Message";
import { overtakenBy, standingOf } from "./question-standing";

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
const asking = { pending_action: "clarification" } as const;

test("the agent waits unless the server says that it does not", () => {
  expect(standingOf(asked(), "no", asking, true)).toBe("waiting");
  expect(standingOf(asked(), "no", asking, undefined)).toBe("waiting");
  expect(standingOf(asked(), "no", asking, false)).toBe("detached");
});

test("PEN-04: a newer message ends it, whatever the row says; a resumed agent does not", () => {
  expect(standingOf(asked(), "prompt", asking, true)).toBe("superseded");
  expect(standingOf(asked(), "turn", asking, false)).toBe("detached");
  expect(standingOf(asked(), "turn", {}, true)).toBe("superseded");
});

test.each(["answered", "rejected", "cancelled", "expired"] as const)("%s is settled", (status) => {
  expect(standingOf(asked({ status }), "prompt", asking, true)).toBe("settled");
});

test("a question without a status waits: no request is lost", () => {
  const [{ message, clarification }] = asked() as [ReturnType<typeof asked>[number]];
  const { status: _, ...rest } = message;
  expect(standingOf([{ message: rest, clarification }], "no", asking, undefined)).toBe("waiting");
});

test("what comes after says whether it overtakes", () => {
  const later = (...rows: Array<Partial<Message>>) => overtakenBy("u1", rows.map(aMessage));
  expect(later({ turn_id: "u1", author: "user" })).toBe("no");
  expect(later({ author: "user" })).toBe("no");
  expect(later({ turn_id: "u2" })).toBe("turn");
  expect(later({ turn_id: "u2" }, { turn_id: "u3", author: "user" })).toBe("prompt");
});
