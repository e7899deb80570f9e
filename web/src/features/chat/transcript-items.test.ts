import { expect, test } from "vitest";
import type { Transcript } from "~/store/transcripts";
import { aMessage } from "~/testing/builders";
import type { Message } from "~/wire/generated/Message";
import { transcriptItems } from "./transcript-items";

function transcript(...messages: Message[]): Transcript {
  return {
    rows: Object.fromEntries(messages.map((message) => [message.id, message])),
    order: messages.map(({ id }) => id),
    queue: [],
    sends: [{ id: "mine", content: "hi", state: "sending", problem: undefined }],
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
