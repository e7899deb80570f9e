import { expect, test } from "vitest";
import { noWishes } from "~/store/queue";
import type { Transcript } from "~/store/transcripts";
import { aMessage } from "~/testing/builders";
import type { Message } from "~/wire/generated/Message";
import { transcriptItems } from "./transcript-items";

function transcript(...messages: Message[]): Transcript {
  return {
    rows: Object.fromEntries(messages.map((message) => [message.id, message])),
    order: messages.map(({ id }) => id),
    queue: [],
    wishes: noWishes(),
    sends: [{ id: "mine", content: "hi", files: [], state: "sending", problem: undefined }],
    tombstones: {},
    loading: "none",
    loaded: true,
    hasOlder: false,
    touched: undefined,
  };
}

test("rows in their order, then what is on its way; text without text is left out", () => {
  const items = transcriptItems(transcript(aMessage({ content: "a" }), aMessage({ id: "m2", content: " " })));
  expect(items.map(({ key }) => key)).toEqual(["m1", "mine"]);
});

test("a run of actions stands together; an open request stands apart", () => {
  const items = transcriptItems(
    transcript(
      aMessage({ id: "1", type: "tool_call" }),
      aMessage({ id: "2", type: "tool_call" }),
      aMessage({ id: "3", type: "permission_request", status: "approved" }),
      aMessage({ id: "4", type: "permission_request", status: "pending" }),
      aMessage({ id: "5", content: "text" }),
    ),
  );
  expect(items.map((item) => item.kind === "message" && item.tight)).toEqual([
    false,
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("questions of one bundle are one item, in their own order, where the first of them stands", () => {
  const asked = (id: string, index: number, pendingId = "p1") =>
    aMessage({
      id,
      type: "clarification_request",
      status: "pending",
      pending_id: pendingId,
      turn_id: "u1",
      metadata: {
        index,
        count: 2,
        question: { text: id, options: [], multi_select: false, free_text: true },
      },
    });
  const items = transcriptItems(
    transcript(
      asked("q1", 1),
      aMessage({ id: "t", type: "tool_call" }),
      asked("q0", 0),
      asked("other", 0, "p2"),
    ),
  );
  expect(items.map(({ key }) => key)).toEqual(["q1", "t", "other", "mine"]);
  const [bundle] = items;
  expect(bundle?.kind === "questions" && bundle.rows.map(({ message }) => message.id)).toEqual(["q0", "q1"]);
});

test("a question that nobody can read as one is shown as text", () => {
  const odd = aMessage({ type: "clarification_request", pending_id: "p1", metadata: { question: {} } });
  expect(transcriptItems(transcript(odd)).map(({ kind }) => kind)).toEqual(["message", "send"]);
});
