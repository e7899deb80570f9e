import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { receiveSession } from "~/store/sessions";
import { type AppStore, change, createAppStore } from "~/store/store";
import { summaryOf, taskOf } from "~/store/tasks";
import { aMessage, aProfile, aSession, aSummary, aTask } from "~/testing/builders";
import { FakeSocket } from "~/testing/fake-socket";
import { HandScheduler } from "~/testing/hand-scheduler";
import type { Boot } from "~/wire/generated/Boot";
import type { Task } from "~/wire/generated/Task";
import { Client, PROTOCOL } from "./client";
import { Commands } from "./commands";
import { keep, keptKeys } from "./kept";
import { keepSend, unsent } from "./kept-files";
import { keepSecret, readSecret } from "./secret";

let store: AppStore;
let frames: HandScheduler;
let sockets: FakeSocket[];
let client: Client;
let reloads: number;
let listed: Task[];
let unreadable: number | undefined;
let boot: Boot;
let bootStatus: number;

const socket = () => {
  const newest = sockets.at(-1);
  if (!newest) throw new Error("a socket was opened");
  return newest;
};

function answer(action: string): unknown {
  if (action === "task.list") return { tasks: listed, unreadable };
  if (action === "session.list") return { sessions: [aSession()] };
  if (action === "message.add") return { message: aMessage({ id: "mine", author: "user" }) };
  return { messages: [], has_more: false };
}

/** Opens the newest socket as a server would, and waits until the page is whole. */
async function arrive(generation = "g1", protocol = PROTOCOL): Promise<void> {
  const opened = socket();
  opened.answer = answer;
  opened.open();
  opened.notify("hello", { server_generation: generation, protocol, features: [] });
  await vi.waitFor(() => {
    frames.frame();
    expect(opened.actions()).toContain("task.list");
    expect(store.getState().tasks.touched).toBeUndefined();
  });
}

beforeEach(() => {
  localStorage.clear();
  keepSecret("secret");
  store = createAppStore();
  frames = new HandScheduler();
  sockets = [];
  reloads = 0;
  listed = [];
  unreadable = undefined;
  bootStatus = 200;
  boot = {
    server_generation: "g1",
    protocol: PROTOCOL,
    version: "0",
    user: { id: "u1", name: "me" },
    known_agents: [],
    workspaces: [
      {
        workspace: { id: "w1", revision: 1, name: "Home", created_at: "" },
        role: "owner",
        workflows: [],
        repositories: [],
        agent_profiles: [],
        tasks: { tasks: [] },
      },
    ],
  };
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify(boot), { status: bootStatus }));
  client = new Client(store, {
    openSocket: () => {
      const next = new FakeSocket();
      sockets.push(next);
      return next;
    },
    schedule: frames.schedule,
    now: () => 0,
    reloadPage: () => {
      reloads += 1;
    },
  });
});

afterEach(async () => {
  await client.signOut();
  vi.unstubAllGlobals();
});

describe("a connection", () => {
  test("WEB-01 lists tasks and subscribes the workspace, and no session that is not open", async () => {
    listed = [aTask({ status_summary: aSummary({ primary_session: { id: "s1", state: "RUNNING" } }) })];
    await client.start(undefined);
    await arrive();
    expect(socket().actions()).toEqual(["client.hello", "workspace.subscribe", "task.list"]);
    expect(taskOf(store.getState().tasks, "t1")?.title).toBe("A task");
  });

  test("PEN-07 says how many tasks its list left out, until it leaves out none", async () => {
    listed = [aTask({})];
    unreadable = 2;
    await client.start(undefined);
    await arrive();
    expect(store.getState().tasks.unreadable).toEqual({ living: 2, archived: 0 });
    expect(taskOf(store.getState().tasks, "t1")).toBeDefined();
    unreadable = undefined;
    await client.listTasks();
    expect(store.getState().tasks.unreadable.living).toBe(0);
    unreadable = 1;
    await client.listArchived();
    expect(store.getState().tasks.unreadable).toEqual({ living: 0, archived: 1 });
  });

  test("that comes back subscribes open sessions before queued sends go", async () => {
    await client.start(undefined);
    await arrive();
    client.attend({ taskId: "t1", sessionIds: ["s1"], focusedSession: "s1" });
    socket().answer = undefined;
    const sending = new Commands(client).outbox.send("t1", "s1", {
      id: "mine",
      content: "hi",
      files: [],
    });
    socket().drop();
    client.pageVisible();
    await arrive();
    await sending;
    const actions = socket().actions();
    expect(actions.indexOf("session.subscribe")).toBeLessThan(actions.indexOf("message.add"));
    expect(store.getState().transcripts.bySession.s1?.sends).toEqual([]);
    expect(store.getState().transcripts.bySession.s1?.rows.mine?.content).toBe("");
  });

  test("REC-04 that comes back repairs rows by one list", async () => {
    listed = [aTask(), aTask({ id: "t2" })];
    await client.start(undefined);
    await arrive();
    socket().drop();
    listed = [aTask({ revision: 2, title: "renamed" })];
    client.pageVisible();
    await arrive();
    expect(taskOf(store.getState().tasks, "t1")?.title).toBe("renamed");
    expect(taskOf(store.getState().tasks, "t2")).toBeUndefined();
  });

  test("on which a request of the arrival is refused is given up for another", async () => {
    await client.start(undefined);
    const first = socket();
    first.open();
    first.notify("hello", { server_generation: "g1", protocol: PROTOCOL, features: [] });
    first.refuse("client.hello", "later");
    await vi.waitFor(() => expect(store.getState().connection.phase).toBe("waiting"));
    expect(first.closed).toBe(true);
    client.pageVisible();
    await arrive();
    expect(store.getState().connection.phase).toBe("ready");
  });

  test("that goes while its sessions are subscribed does not make the page ready", async () => {
    await client.start(undefined);
    await arrive();
    client.attend({ taskId: "t1", sessionIds: ["s1"], focusedSession: undefined });
    socket().drop();
    client.pageVisible();
    const second = socket();
    second.answer = (action) => {
      if (action === "session.subscribe") {
        queueMicrotask(() => second.drop());
      }
      return answer(action);
    };
    second.open();
    second.notify("hello", { server_generation: "g1", protocol: PROTOCOL, features: [] });
    const phases = new Set<string>();
    const unsubscribe = store.subscribe(({ connection }) => phases.add(connection.phase));
    await vi.waitFor(() => expect(phases).toContain("waiting"));
    await Promise.resolve().then(() => undefined);
    unsubscribe();
    expect(phases).not.toContain("ready");
    expect(store.getState().connection.phase).toBe("waiting");
  });

  test("to a new run of the server believes its lower revisions", async () => {
    listed = [aTask({ status_summary: aSummary({ revision: 900 }) })];
    await client.start(undefined);
    await arrive();
    socket().drop();
    boot = { ...boot, server_generation: "g2" };
    listed = [aTask({ status_summary: aSummary({ revision: 3, queued_prompt_count: 4 }) })];
    client.pageVisible();
    await arrive("g2");
    expect(summaryOf(store.getState().tasks, "t1")).toMatchObject({ revision: 3, queued_prompt_count: 4 });
  });

  test("to a new run of the server keeps what that run said before its boot was read", async () => {
    listed = [aTask({ revision: 900 })];
    await client.start(undefined);
    await arrive();
    socket().drop();
    boot = { ...boot, server_generation: "g2" };
    listed = [aTask({ revision: 3, title: "from the list" })];
    client.pageVisible();
    const second = socket();
    second.answer = answer;
    second.open();
    second.notify("hello", { server_generation: "g2", protocol: PROTOCOL, features: [] });
    second.notify("task.updated", { task: aTask({ revision: 4, title: "told at once" }) });
    frames.frame();
    expect(taskOf(store.getState().tasks, "t1")?.title).toBe("told at once");
    await vi.waitFor(() => {
      frames.frame();
      expect(second.actions()).toContain("task.list");
      expect(store.getState().tasks.touched).toBeUndefined();
    });
    expect(taskOf(store.getState().tasks, "t1")?.title).toBe("told at once");
  });

  test.each([
    [1, 2, "name 1"],
    [9, 3, "name 2"],
  ])("whose boot is overtaken by %i changes reads it %i times", async (changes, times, name) => {
    await client.start(undefined);
    let asked = 0;
    vi.stubGlobal("fetch", async () => {
      const answered = JSON.stringify(boot);
      asked += 1;
      if (asked <= changes) {
        const profile = aProfile({ revision: asked, name: `name ${asked}` });
        socket().notify("agent_profile.updated", profile);
        frames.frame();
        boot = { ...boot, workspaces: boot.workspaces.map((w) => ({ ...w, agent_profiles: [profile] })) };
      }
      return new Response(answered);
    });
    await arrive();
    expect(asked).toBe(times);
    expect(store.getState().workspaces.profiles.p1?.name).toBe(name);
  });

  test("to another contract loads the page anew", async () => {
    await client.start(undefined);
    socket().open();
    socket().notify("hello", { server_generation: "g1", protocol: PROTOCOL + 1, features: [] });
    expect(reloads).toBe(1);
  });

  test("SUM-07 a summary that is not newer changes nothing on its way through the batch", async () => {
    listed = [aTask({ status_summary: aSummary({ revision: 5, queued_prompt_count: 1 }) })];
    await client.start(undefined);
    await arrive();
    socket().notify("task.status_summary.updated", {
      task_id: "t1",
      workspace_id: "w1",
      status_summary: aSummary({ revision: 5, queued_prompt_count: 9 }),
    });
    frames.frame();
    expect(summaryOf(store.getState().tasks, "t1")?.queued_prompt_count).toBe(1);
  });

  test("a notification of a later version is ignored", async () => {
    await client.start(undefined);
    await arrive();
    socket().notify("something.new", { a: 1 });
    socket().notify("constructor", {});
    frames.frame();
    expect(store.getState().connection.phase).toBe("ready");
  });
});

describe("signing in", () => {
  test("a secret the server no longer takes is forgotten", async () => {
    bootStatus = 401;
    await client.start(undefined);
    expect([store.getState().signIn.phase, readSecret()]).toEqual(["signed_out", undefined]);
  });

  test("a wrong code says so, and does not cost a secret that still works", async () => {
    vi.stubGlobal("fetch", async (address: string) =>
      address.includes("sign-in") ? new Response("{}", { status: 401 }) : new Response(JSON.stringify(boot)),
    );
    await client.start("wrong");
    expect([store.getState().signIn.phase, readSecret()]).toEqual(["signed_in", "secret"]);
    localStorage.clear();
    await client.start("wrong");
    expect(store.getState().signIn.problem).toContain("wrong");
  });

  test("signing out makes the secret void at the server and loads the page anew", async () => {
    const asked: unknown[] = [];
    await client.start(undefined);
    vi.stubGlobal("fetch", async (address: string, { method, headers }: RequestInit) => {
      asked.push([method, address, headers, readSecret()]);
      return new Response(null, { status: 204 });
    });
    await client.signOut();
    expect(asked).toEqual([["POST", "/api/v1/sign-out", { authorization: "Bearer secret" }, undefined]]);
    expect([reloads, socket().closed, store.getState().connection.phase]).toEqual([1, true, "stopped"]);
  });

  test("signing out leaves nothing of the person's work in the browser, also of what ends later", async () => {
    localStorage.setItem("flightstrip.preferences", "{}");
    localStorage.setItem("of another program", "stays");
    keep("flightstrip.draft.s1", "half a thought");
    keepSend("s1", { id: "m1", content: "lost", attachments: [], problem: "There is no connection." });
    keepSend("s2", { id: "m2", content: "on its way", attachments: [] });
    expect(unsent()).toEqual({ count: 2, sure: false });
    vi.stubGlobal("fetch", async () => {
      keepSend("s2", { id: "m2", content: "on its way", attachments: [], problem: "The page is going." });
      keep("flightstrip.draft.s1", "typed in another tab");
      return new Response(null, { status: 204 });
    });
    await client.signOut();
    expect(Object.keys(localStorage).sort()).toEqual(["flightstrip.preferences", "of another program"]);
    expect(unsent()).toEqual({ count: 0, sure: true });
  });

  test("what was not sent to a session goes with the session, and with its task", async () => {
    await client.start(undefined);
    await arrive();
    for (const id of ["s1", "s2", "s3"]) {
      change(store, (draft) => receiveSession(draft.sessions, aSession({ id, task_id: `t-${id}` })));
      keep(`flightstrip.draft.${id}`, "half a thought");
      keepSend(id, { id: `m-${id}`, content: "lost", attachments: [], problem: "There is no connection." });
    }
    socket().notify("session.deleted", { task_id: "t-s1", session_id: "s1" });
    socket().notify("task.deleted", { task_id: "t-s2" });
    expect(unsent().count).toBe(1);
    expect(keptKeys("flightstrip.draft.")).toEqual(["flightstrip.draft.s3"]);
  });

  test("a server that is gone does not keep anybody signed in", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("no network")));
    await client.signOut();
    expect([reloads, readSecret()]).toEqual([1, undefined]);
  });
});
