import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type AppStore, change, createAppStore } from "~/store/store";
import { openTranscript, receiveMessage } from "~/store/transcripts";
import { aMessage } from "~/testing/builders";
import type { Attachment } from "~/wire/generated/Attachment";
import type { Message } from "~/wire/generated/Message";
import type { MessageAdd } from "~/wire/generated/MessageAdd";
import { keepSend, readFiles, readOutbox } from "./kept-files";
import { Outbox } from "./outbox";
import { RequestFailed } from "./requests";
import { keepSecret } from "./secret";
import { UploadFailed } from "./upload-file";
import { Uploads } from "./uploads";

/** Uploads in the test's hands, by file name. */
class Uplink {
  readonly sent: string[] = [];
  private readonly waiting = new Map<string, { done(a: Attachment): void; fail(e: Error): void }>();

  readonly send = (_taskId: string, file: File, onSent: (bytes: number) => void): Promise<Attachment> => {
    this.sent.push(file.name);
    onSent(1);
    return new Promise((done, fail) => this.waiting.set(file.name, { done, fail }));
  };

  arrive(name: string): void {
    this.waiting.get(name)?.done({ id: `id of ${name}`, name, media_type: "text/plain", size: 4 });
  }

  fail(name: string): void {
    this.waiting.get(name)?.fail(new UploadFailed("There is no connection to the server."));
  }
}

let store: AppStore;
let uplink: Uplink;
let uploads: Uploads;
let outbox: Outbox;
let added: MessageAdd[];
let answer: (payload: MessageAdd) => Promise<{ message: Message }>;

/** A page that has just been loaded; what the browser keeps stays. */
function loadPage(): void {
  store = createAppStore();
  change(store, (draft) => void openTranscript(draft.transcripts, "s1"));
  uplink = new Uplink();
  let last = 0;
  uploads = new Uploads(store, uplink.send, () => `u${++last}`);
  const request = async (action: string, payload: unknown) => {
    if (action !== "message.add") return { messages: [] };
    added.push(payload as MessageAdd);
    return answer(payload as MessageAdd);
  };
  outbox = new Outbox({ store, request: request as never, waitReady: async () => true }, uploads);
}

/** Lets everything run that waits for nothing more. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

beforeEach(() => {
  localStorage.clear();
  keepSecret("secret");
  added = [];
  answer = async (payload) => ({
    message: aMessage({ id: payload.client_message_id ?? "", author: "user" }),
  });
  loadPage();
});

afterEach(() => vi.unstubAllGlobals());

const file = (name: string) => new File(["text"], name, { type: "text/plain" });
const sends = () => store.getState().transcripts.bySession.s1?.sends ?? [];
const stateOf = (id: string) => store.getState().uploads.byId[id]?.state;

test("no more files than a message takes; the rest is counted", () => {
  const many = Array.from({ length: 12 }, (_, index) => file(`f${index}`));
  expect(uploads.add("t1", "s1", many)).toBe(2);
  expect(store.getState().uploads.fields.s1).toHaveLength(10);
  expect(uploads.add("t1", "s1", [file("more")])).toBe(1);
  expect(uploads.add("t1", "s2", [file("elsewhere")])).toBe(0);
});

test("two files go at once; the next when one is there or has failed, but none that was taken back", async () => {
  uploads.add("t1", "s1", [file("a"), file("b"), file("c"), file("d"), file("e")]);
  expect(uplink.sent).toEqual(["a", "b"]);
  uploads.remove("s1", "u3");
  uplink.arrive("a");
  await settled();
  expect(uplink.sent).toEqual(["a", "b", "d"]);
  uplink.fail("b");
  await settled();
  expect(uplink.sent).toEqual(["a", "b", "d", "e"]);
  uplink.arrive("d");
  uplink.arrive("e");
  await settled();
  expect(["u1", "u2", "u3", "u4", "u5"].map(stateOf)).toEqual([
    "ready",
    "failed",
    undefined,
    "ready",
    "ready",
  ]);
  uploads.add("t1", "s1", [file("f"), file("g")]);
  expect(uplink.sent.slice(4)).toEqual(["f", "g"]);
});

test("a message waits for its files and then names them, in their order", async () => {
  uploads.add("t1", "s1", [file("a"), file("b")]);
  const sending = outbox.send("t1", "s1", { id: "mine", content: "hi", files: uploads.take("s1") });
  expect(sends().map(({ state }) => state)).toEqual(["uploading"]);
  uplink.arrive("b");
  uplink.arrive("a");
  await sending;
  expect(added).toEqual([
    {
      task_id: "t1",
      session_id: "s1",
      client_message_id: "mine",
      content: "hi",
      attachments: ["id of a", "id of b"],
    },
  ]);
  expect(sends()).toEqual([]);
  expect(store.getState().uploads.byId).toEqual({});
});

test("a later message does not overtake one that waits for its files", async () => {
  uploads.add("t1", "s1", [file("a")]);
  const first = outbox.send("t1", "s1", { id: "first", content: "1", files: uploads.take("s1") });
  const second = outbox.send("t1", "s1", { id: "second", content: "2", files: [] });
  const elsewhere = outbox.send("t1", "s2", { id: "elsewhere", content: "3", files: [] });
  await elsewhere;
  uplink.arrive("a");
  await Promise.all([first, second]);
  expect(added.map((payload) => payload.client_message_id)).toEqual(["elsewhere", "first", "second"]);
});

test("a later message waits until the one before it is answered, and goes when that was refused", async () => {
  let refuse = () => {};
  answer = () =>
    new Promise((_, reject) => {
      refuse = () => reject(new RequestFailed("refused", undefined, "no"));
    });
  const first = outbox.send("t1", "s1", { id: "first", content: "1", files: [] });
  const second = outbox.send("t1", "s1", { id: "second", content: "2", files: [] });
  await settled();
  expect(added.map((payload) => payload.client_message_id)).toEqual(["first"]);
  answer = async (payload) => ({ message: aMessage({ id: payload.client_message_id ?? "" }) });
  refuse();
  await Promise.all([first, second]);
  expect(added.map((payload) => payload.client_message_id)).toEqual(["first", "second"]);
  expect(sends().map(({ id, state }) => [id, state])).toEqual([["first", "refused"]]);
  loadPage();
  await outbox.restore("s1");
  expect(sends().map(({ id, state, problem }) => [id, state, problem])).toEqual([
    ["first", "refused", "No."],
  ]);
});

test("a file that fails keeps its message here, says which, and is tried again with it", async () => {
  uploads.add("t1", "s1", [file("a"), file("b")]);
  const prompt = { id: "mine", content: "hi", files: uploads.take("s1") };
  const sending = outbox.send("t1", "s1", prompt);
  uplink.arrive("a");
  uplink.fail("b");
  await sending;
  expect(added).toEqual([]);
  expect(sends()[0]?.state).toBe("refused");
  expect(sends()[0]?.problem).toBe("The file b was not uploaded. There is no connection to the server.");
  const again = outbox.send("t1", "s1", prompt);
  expect(uplink.sent).toEqual(["a", "b", "b"]);
  uplink.arrive("b");
  await again;
  expect(added.map(({ attachments }) => attachments)).toEqual([["id of a", "id of b"]]);
});

test("a message that was taken back while its files were on the way is not sent", async () => {
  uploads.add("t1", "s1", [file("a")]);
  const prompt = { id: "mine", content: "hi", files: uploads.take("s1") };
  const sending = outbox.send("t1", "s1", prompt);
  outbox.forget("s1", prompt, true);
  uplink.arrive("a");
  await sending;
  expect(added).toEqual([]);
  expect(store.getState().uploads.fields.s1).toEqual(["u1"]);
  expect(stateOf("u1")).toBe("ready");
});

test("C14: whose fate is unknown when the page is left is unknown after a reload, and goes with the same ids", async () => {
  answer = async () => {
    throw new RequestFailed("disconnected", undefined, "gone");
  };
  uploads.add("t1", "s1", [file("a")]);
  const sending = outbox.send("t1", "s1", { id: "mine", content: "hi", files: uploads.take("s1") });
  uplink.arrive("a");
  await sending;
  expect(sends()[0]?.state).toBe("unknown");
  const before = added.at(-1);

  loadPage();
  await outbox.restore("s1");
  expect(sends().map(({ id, state }) => [id, state])).toEqual([["mine", "unknown"]]);
  answer = async (payload) => ({ message: aMessage({ id: payload.client_message_id ?? "" }) });
  const [kept] = sends();
  if (kept) await outbox.send("t1", "s1", kept);
  expect(added.at(-1)).toEqual(before);
  expect(sends()).toEqual([]);
  expect(readOutbox("s1")).toEqual([]);
});

test("C15: what turned out to be stored is not brought back by a reload", async () => {
  answer = () => new Promise(() => undefined);
  void outbox.send("t1", "s1", { id: "mine", content: "hi", files: [] });
  await Promise.resolve();
  loadPage();
  change(store, (draft) => receiveMessage(draft.transcripts, aMessage({ id: "mine", author: "user" })));
  await outbox.restore("s1");
  expect(sends()).toEqual([]);
  expect(readOutbox("s1")).toEqual([]);
});

test("what another living page sends is left to it; what waited for a file is back without it, and says so", async () => {
  uploads.add("t1", "s1", [file("a"), file("slow")]);
  uplink.arrive("a");
  await settled();
  void outbox.send("t1", "s1", { id: "mine", content: "hi", files: uploads.take("s1") });
  const [kept] = readOutbox("s1");
  if (kept) keepSend("s1", { ...kept, id: "theirs", page: "another page" });
  vi.stubGlobal("navigator", {
    locks: { query: async () => ({ held: [{ name: "flightstrip.page.another page" }] }) },
  });
  loadPage();
  await outbox.restore("s1");
  expect(sends().map(({ id, state, files, problem }) => [id, state, files, problem])).toEqual([
    [
      "mine",
      "refused",
      ["id of a"],
      "The page was left before this was sent, and without slow: edit it to attach that again.",
    ],
  ]);
});

test("files of a field outlive a reload, each with its own session", async () => {
  uploads.add("t1", "s1", [file("a"), file("lost")]);
  uploads.add("t2", "s2", [file("b")]);
  uplink.arrive("a");
  await settled();
  uplink.arrive("b");
  await settled();
  loadPage();
  uploads.restore("s1");
  expect(store.getState().uploads.fields.s1).toEqual(["id of a"]);
  expect(stateOf("id of a")).toBe("ready");
  expect(readFiles("s2").map(({ id }) => id)).toEqual(["id of b"]);
});
