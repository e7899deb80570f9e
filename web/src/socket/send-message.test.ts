import { describe, expect, test } from "vitest";
import { aMessage } from "~/testing/builders";
import type { ErrorPayload } from "~/wire/generated/ErrorPayload";
import type { Message } from "~/wire/generated/Message";
import { RequestFailed } from "./requests";
import { type SendPort, sendMessage } from "./send-message";

const payload = { task_id: "t1", session_id: "s1", client_message_id: "mine", content: "hi" };
const lost = () => new RequestFailed("disconnected", undefined, "gone");
const refused = (retry: ErrorPayload["retry"]) =>
  new RequestFailed("refused", { code: "BUSY", message: "full", retry }, "full");

/** A port that plays back what happens, and notes in which order it was asked. */
function port(script: { adds: Array<Message | Error>; looks?: boolean[]; ready?: boolean }) {
  const asked: string[] = [];
  const looks = [...(script.looks ?? [])];
  const adds = [...script.adds];
  const value: SendPort = {
    add: async (prompt, deadlineMs) => {
      const files = prompt.attachments ? ` with ${prompt.attachments.join(" ")} in ${deadlineMs} ms` : "";
      asked.push(`add ${prompt.client_message_id}${files}`);
      const next = adds.shift();
      if (next instanceof Error || next === undefined) throw next ?? lost();
      return next;
    },
    look: async () => {
      asked.push("list");
      return looks.shift() ?? false;
    },
    waitReady: async () => {
      asked.push("wait");
      return script.ready ?? true;
    },
  };
  return { value, asked };
}

describe("WEB-04 an uncertain send", () => {
  test("that is answered asks nothing more", async () => {
    const { value, asked } = port({ adds: [aMessage({ id: "mine" })] });
    expect((await sendMessage(value, payload)).kind).toBe("stored");
    expect(asked).toEqual(["add mine"]);
  });

  test("that is found in the list is not sent again", async () => {
    const { value, asked } = port({ adds: [lost()], looks: [true] });
    expect((await sendMessage(value, payload)).kind).toBe("stored");
    expect(asked).toEqual(["add mine", "list"]);
  });

  test("is sent once more with the same id", async () => {
    const { value, asked } = port({ adds: [lost(), aMessage({ id: "mine" })] });
    expect((await sendMessage(value, payload)).kind).toBe("stored");
    expect(asked).toEqual(["add mine", "list", "wait", "add mine"]);
  });

  test("is unknown only after one list, one retry and one list", async () => {
    const { value, asked } = port({ adds: [lost(), lost()] });
    expect((await sendMessage(value, payload)).kind).toBe("unknown");
    expect(asked).toEqual(["add mine", "list", "wait", "add mine", "list"]);
  });

  test("is not retried when no connection comes back in time", async () => {
    const { value, asked } = port({ adds: [lost()], ready: false });
    expect((await sendMessage(value, payload)).kind).toBe("unknown");
    expect(asked).toEqual(["add mine", "list", "wait", "list"]);
  });

  test("refused for good says why; refused for now with the same id is tried again", async () => {
    const never = port({ adds: [refused("never")] });
    expect(await sendMessage(never.value, payload)).toEqual({ kind: "refused", message: "Full." });
    const again = port({ adds: [refused("same_id"), aMessage({ id: "mine" })] });
    expect((await sendMessage(again.value, payload)).kind).toBe("stored");
  });

  test("with files takes longer, and is sent again with the same files", async () => {
    const { value, asked } = port({ adds: [lost(), aMessage({ id: "mine" })] });
    await sendMessage(value, { ...payload, attachments: ["a1", "a2"] });
    const add = "add mine with a1 a2 in 30000 ms";
    expect(asked).toEqual([add, "list", "wait", add]);
  });
});
