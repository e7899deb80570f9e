import { beforeEach, expect, test } from "vitest";
import { type AppStore, change, createAppStore } from "~/store/store";
import { openTranscript, receiveMessage } from "~/store/transcripts";
import { aMessage } from "~/testing/builders";
import type { Client } from "./client";
import { Commands } from "./commands";
import { RequestFailed } from "./requests";

let store: AppStore;
let asked: string[];
let refusal: RequestFailed;
let commands: Commands;

const REQUEST = { session_id: "s1", message_id: "m1", pending_id: "p1" };
const conflict = new RequestFailed(
  "refused",
  { code: "CONFLICT", message: "already resolved", retry: "never" },
  "already resolved",
);

beforeEach(() => {
  store = createAppStore();
  asked = [];
  refusal = conflict;
  change(store, (draft) => {
    openTranscript(draft.transcripts, "s1");
    for (const id of ["m1", "m2"]) {
      receiveMessage(draft.transcripts, aMessage({ id, type: "clarification_request", status: "pending" }));
    }
  });
  const request = async (action: string, payload: { message_id: string }) => {
    asked.push(`${action} ${payload.message_id}`);
    if (action !== "message.get") throw refusal;
    return { message: aMessage({ id: payload.message_id, revision: 2, status: "answered" }) };
  };
  commands = new Commands({ store, request } as unknown as Client);
});

const statuses = () => ["m1", "m2"].map((id) => store.getState().transcripts.bySession.s1?.rows[id]?.status);

test("after a conflict every row of the bundle is read again, and the conflict is still told", async () => {
  const answered = commands.answerQuestions(REQUEST, ["m1", "m2"], [], true);
  await expect(answered).rejects.toBe(conflict);
  expect(asked).toEqual(["clarification.respond m1", "message.get m1", "message.get m2"]);
  expect(statuses()).toEqual(["answered", "answered"]);
});

test("an answer that was lost leaves the request open: it may be given again", async () => {
  refusal = new RequestFailed("timeout", undefined, "late");
  await expect(commands.answer(REQUEST, "allow")).rejects.toBe(refusal);
  expect(asked).toEqual(["permission.respond m1"]);
  expect(statuses()).toEqual(["pending", "pending"]);
});
