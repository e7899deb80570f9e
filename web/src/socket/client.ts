/**
 * The client of the server: sign-in, boot, connection, and what must happen in which order when one stands.
 *
 * On every connection: hello, workspace feed, open sessions subscribed again, *then* ready (queued sends go), then
 * the task list page by page, which repairs every row (REC-04). Nothing else in the page writes server data.
 */

import { forgetSessionRevisions, receiveSessionList } from "~/store/sessions";
import type { SignInState } from "~/store/sign-in";
import { type AppStore, change } from "~/store/store";
import { beginList, finishList, forgetTaskRevisions, receiveTaskPage } from "~/store/tasks";
import { forgetMessageRevisions } from "~/store/transcripts";
import { forgetRowRevisions, receiveBoot } from "~/store/workspaces";
import type { RequestAction, RequestOf, ResponseOf } from "~/wire/actions";
import type { Boot } from "~/wire/generated/Boot";
import type { Frame } from "~/wire/generated/Frame";
import type { Hello } from "~/wire/generated/Hello";
import { Connection, type ConnectionPhase, type SocketLike } from "./connection";
import { FrameBatch, type FrameScheduler } from "./frame-batch";
import { handleNotification, refreshLastSteps } from "./handlers";
import { endSecret, exchangeCode, fetchBoot } from "./http";
import { forgetKept } from "./kept";
import { forgetUnsent } from "./kept-files";
import { OneAtATime } from "./one-at-a-time";
import { OpenSessions } from "./open-sessions";
import { Requests } from "./requests";
import { forgetSecret, keepSecret, readSecret } from "./secret";

/** The contract this page was built for. Another one on the server means: load the page anew. */
export const PROTOCOL = 1;
/** How often a starting or silent server is asked again. */
const BOOT_RETRY_MS = 1_000;
/** How often boot is read on a new connection while what it tells keeps changing. */
const BOOT_TRIES = 3;

/** What the client needs of the browser. */
export interface ClientPort {
  openSocket(secret: string): SocketLike;
  schedule: FrameScheduler;
  now(): number;
  /** Loads the page anew: that of the server's own version, with nothing in memory. */
  reloadPage(): void;
}

/** What is on screen, as far as the server should know. */
export interface Attention {
  taskId: string | undefined;
  sessionIds: readonly string[];
  focusedSession: string | undefined;
}

export class Client {
  readonly requests: Requests;
  readonly sessions: OpenSessions;
  private readonly batch: FrameBatch;
  private readonly connection: Connection;
  private readonly lists = new OneAtATime();
  private attention: Attention = { taskId: undefined, sessionIds: [], focusedSession: undefined };
  private readyWaiters: Array<() => void> = [];
  /** Rises with every hello and every loss: an arrival that finds another number is over and does nothing more. */
  private arrival = 0;

  constructor(
    readonly store: AppStore,
    private readonly port: ClientPort,
  ) {
    this.requests = new Requests((text) => this.connection.write(text));
    this.sessions = new OpenSessions(store, this.requests);
    this.batch = new FrameBatch(store, port.schedule, (gap) => void this.sessions.fetchMessage(gap));
    this.connection = new Connection(() => port.openSocket(readSecret() ?? ""), {
      onPhase: (phase) => this.phaseChanged(phase),
      onFrame: (frame) => this.received(frame),
      onSignedOut: () => this.signedOut(),
      onHandshakeFailed: () => void this.checkSecret(),
    });
  }

  /** With a code it is exchanged first; else the secret kept from before is tried. */
  async start(code: string | undefined): Promise<void> {
    if (code !== undefined && (await this.signIn(code))) return;
    if (readSecret() !== undefined) await this.boot();
    else if (code === undefined) this.setSignIn({ phase: "signed_out" });
  }

  /** Returns whether the code was good. A wrong one does not cost a secret that still works. */
  async signIn(code: string): Promise<boolean> {
    this.setSignIn({ phase: "exchanging" });
    const answer = await exchangeCode(code);
    if (answer.kind === "refused") {
      this.setSignIn({ phase: "signed_out", problem: answer.message });
      return false;
    }
    keepSecret(answer.secret);
    await this.boot();
    return true;
  }

  /**
   * Ends the secret for every tab and at the server, then loads the page anew: nothing of this person's work stays in
   * memory or in this browser's storage. A server that does not answer keeps nobody signed in here.
   */
  async signOut(): Promise<void> {
    const secret = readSecret();
    this.connection.stop();
    this.signedOut();
    forgetKept();
    if (secret !== undefined) await endSecret(secret);
    this.port.reloadPage();
  }

  pageVisible(): void {
    this.connection.pageVisible();
  }

  request<A extends RequestAction>(action: A, payload: RequestOf<A>, ms?: number): Promise<ResponseOf<A>> {
    return this.requests.send(action, payload, ms);
  }

  /** Tells what is on screen now; an equal call sends nothing. */
  attend(attention: Attention): void {
    const sameTask = attention.taskId === this.attention.taskId;
    this.attention = attention;
    this.sessions.show(attention.sessionIds);
    this.sessions.focus(attention.focusedSession);
    if (attention.taskId && !sameTask) void this.listSessions(attention.taskId);
  }

  /** Makes another workspace the one on screen: its feed and its list replace those of the one before. */
  openWorkspace(workspaceId: string): void {
    const { current, byId } = this.store.getState().workspaces;
    if (workspaceId === current || byId[workspaceId] === undefined) return;
    change(this.store, (draft) => {
      draft.workspaces.current = workspaceId;
      draft.tasks.orderStamp += 1;
    });
    // Without a connection the next one subscribes whatever is current then.
    if (current)
      this.requests.send("workspace.unsubscribe", { workspace_id: current }).catch(() => undefined);
    this.requests.send("workspace.subscribe", { workspace_id: workspaceId }).catch(() => undefined);
    void this.listTasks();
  }

  /** Resolves true at once when ready, or as soon as it is within the time. */
  waitReady(ms: number): Promise<boolean> {
    if (this.store.getState().connection.phase === "ready") return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      this.readyWaiters.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  async listSessions(taskId: string): Promise<void> {
    try {
      const { sessions } = await this.requests.send("session.list", { task_id: taskId });
      change(this.store, (draft) => receiveSessionList(draft.sessions, taskId, sessions));
    } catch {
      // Repeated when the connection is ready again.
    }
  }

  /** Loads archived tasks, page by page. They are not part of the feed's first list. */
  async listArchived(): Promise<void> {
    change(this.store, (draft) => {
      draft.tasks.archivedList = "loading";
    });
    const listed = await this.pages(true);
    change(this.store, (draft) => {
      draft.tasks.archivedList = listed ? "loaded" : "failed";
      if (listed) draft.tasks.unreadable.archived = listed.unreadable;
    });
  }

  /** Loads the living tasks anew and lets go of those that are no more. */
  listTasks(): Promise<void> {
    return this.lists.run("tasks", () => this.listTasksOnce());
  }

  private async listTasksOnce(): Promise<void> {
    const workspaceId = this.store.getState().workspaces.current;
    if (!workspaceId) return;
    change(this.store, (draft) => beginList(draft.tasks));
    const listed = await this.pages(false);
    change(this.store, (draft) => {
      if (listed) {
        finishList(draft.tasks, workspaceId, listed.ids);
        draft.tasks.unreadable.living = listed.unreadable;
      } else if (draft.tasks.list !== "loaded") draft.tasks.list = "failed";
    });
  }

  private async pages(archived: boolean): Promise<{ ids: Set<string>; unreadable: number } | undefined> {
    const workspaceId = this.store.getState().workspaces.current;
    if (!workspaceId) return undefined;
    const ids = new Set<string>();
    let unreadable = 0;
    let cursor: string | undefined;
    try {
      do {
        const page = await this.requests.send("task.list", {
          workspace_id: workspaceId,
          archived,
          ...(cursor === undefined ? {} : { cursor }),
        });
        for (const task of page.tasks) ids.add(task.id);
        unreadable += page.unreadable ?? 0;
        this.batch.add((draft) => receiveTaskPage(draft.tasks, page.tasks));
        cursor = page.cursor;
      } while (cursor !== undefined);
    } catch {
      return undefined;
    }
    this.batch.flush();
    return { ids, unreadable };
  }

  private async boot(): Promise<void> {
    const answer = await fetchBoot(readSecret() ?? "");
    switch (answer.kind) {
      case "boot":
        this.believe(answer.boot.server_generation);
        this.applyBoot(answer.boot);
        this.setSignIn({ phase: "signed_in" });
        this.connection.start();
        return;
      case "unauthorized":
        this.signedOut();
        return;
      case "starting":
        this.setSignIn({ phase: "starting", progress: answer.progress });
        break;
      case "unreachable":
        this.setSignIn({ phase: "unreachable" });
    }
    setTimeout(() => void this.boot(), BOOT_RETRY_MS);
  }

  /** Another run of the server numbers anew: what is held is older than anything it says. */
  private believe(generation: string): void {
    if (this.store.getState().workspaces.serverGeneration === generation) return;
    change(this.store, (draft) => {
      forgetTaskRevisions(draft.tasks);
      forgetSessionRevisions(draft.sessions);
      forgetMessageRevisions(draft.transcripts);
      forgetRowRevisions(draft.workspaces);
      draft.workspaces.serverGeneration = generation;
    });
  }

  /** The answer of a run that has not said hello yet is left alone: its own hello brings it again. */
  private applyBoot(boot: Boot): void {
    if (boot.server_generation !== this.store.getState().workspaces.serverGeneration) return;
    change(this.store, (draft) => {
      receiveBoot(draft.workspaces, boot);
      refreshLastSteps(draft);
      for (const { tasks } of boot.workspaces) receiveTaskPage(draft.tasks, tasks.tasks);
    });
  }

  private received(frame: Frame): void {
    if (frame.type === "response" || frame.type === "error") {
      this.requests.receive(frame);
      return;
    }
    handleNotification(frame.action, frame.payload, this.batch, {
      onHello: (hello) => void this.arrive(hello),
      onResync: (sessionId) => void this.sessions.reload(sessionId),
      onQueueChanged: (sessionId) => void this.sessions.queue(sessionId),
      onSessionDeleted: forgetUnsent,
      onTaskDeleted: (taskId) => {
        for (const session of Object.values(this.store.getState().sessions.byId)) {
          if (session.task_id === taskId) forgetUnsent(session.id);
        }
      },
    });
  }

  private async arrive(hello: Hello): Promise<void> {
    if (hello.protocol !== PROTOCOL) {
      this.port.reloadPage();
      return;
    }
    this.arrival += 1;
    const mine = this.arrival;
    const over = () => mine !== this.arrival;
    // Before anything of this run is applied: nothing may be compared with the numbers of another.
    this.believe(hello.server_generation);
    try {
      await this.requests.send("client.hello", { capabilities: ["message_append"] });
      if (over()) return;
      const workspaceId = this.store.getState().workspaces.current;
      if (workspaceId) await this.requests.send("workspace.subscribe", { workspace_id: workspaceId });
      if (over()) return;
      await this.sessions.resume(over);
    } catch {
      // Half a connection is none: the next one starts over. One that went by itself is on its way already.
      if (!over()) this.connection.giveUp();
      return;
    }
    if (over()) return;
    this.becomeReady();
    await this.refreshWorkspaces(over);
    if (over()) return;
    await this.listTasks();
    if (!over() && this.attention.taskId) await this.listSessions(this.attention.taskId);
  }

  /**
   * Boards, agents and repositories may have changed while nobody listened. An answer during which one of them
   * changed may be older than that change, so it is asked for again; the last one is taken as it is.
   */
  private async refreshWorkspaces(over: () => boolean): Promise<void> {
    for (let tries = 1; tries <= BOOT_TRIES; tries++) {
      const before = this.store.getState().workspaces;
      const answer = await fetchBoot(readSecret() ?? "");
      if (over() || answer.kind !== "boot") return;
      const changed = this.store.getState().workspaces !== before;
      if (changed && tries < BOOT_TRIES) continue;
      this.applyBoot(answer.boot);
      return;
    }
  }

  private becomeReady(): void {
    this.connection.settled();
    change(this.store, (draft) => {
      draft.connection = { phase: "ready", lostAt: undefined };
    });
    for (const ready of this.readyWaiters.splice(0)) ready();
  }

  private phaseChanged(phase: ConnectionPhase): void {
    if (phase !== "open") this.arrival += 1;
    if (phase === "waiting" || phase === "stopped") {
      this.batch.flush();
      this.requests.failAll();
    }
    change(this.store, (draft) => {
      draft.connection.phase = phase;
      if (phase !== "open") draft.connection.lostAt ??= this.port.now();
    });
  }

  private async checkSecret(): Promise<void> {
    const answer = await fetchBoot(readSecret() ?? "");
    if (answer.kind !== "unauthorized") return;
    this.connection.stop();
    this.signedOut();
  }

  private signedOut(): void {
    forgetSecret();
    this.setSignIn({ phase: "signed_out" });
  }

  private setSignIn(state: Partial<SignInState>): void {
    change(this.store, (draft) => {
      draft.signIn = { phase: draft.signIn.phase, problem: undefined, progress: undefined, ...state };
    });
  }
}
