import type { Browser, JSHandle, Page } from "@playwright/test";
import type { RequestAction, RequestOf, ResponseOf } from "~/wire/actions";
import type { AgentProfile } from "~/wire/generated/AgentProfile";
import type { AgentProfileFields } from "~/wire/generated/AgentProfileFields";
import type { Boot } from "~/wire/generated/Boot";
import type { Task } from "~/wire/generated/Task";
import type { TestServer } from "./server.ts";

type Ask = (action: string, payload: unknown) => Promise<unknown>;

interface TaskOptions {
  /** What the worktree starts from; the repository's default when absent. */
  baseBranch?: string;
  agent?: AgentProfile;
}

interface Talk {
  boot: Boot;
  ask: Ask;
}

/**
 * A second client that speaks the wire, for what a test needs but does not prove by hand.
 *
 * It lives in a browser context of its own, since not every supported Node has a WebSocket: the page under test
 * shares no socket, storage or focus with it.
 */
export class Api {
  /** What tasks made from now on work on; the first is the root. */
  private readonly repositoryIds: string[] = [];
  private made = 0;

  private constructor(
    private readonly page: Page,
    private readonly talk: JSHandle<Talk>,
    readonly workspaceId: string,
    private readonly lastStepId: string,
  ) {}

  static async open(browser: Browser, server: TestServer): Promise<Api> {
    const address = new URL(await server.signInAddress());
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${address.origin}/livez`);
    const talk = await page.evaluateHandle(beginTalk, address.hash.replace("#code=", ""));
    const [workspaceId, lastStepId] = await talk.evaluate(({ boot: { workspaces } }) => {
      const [first] = workspaces;
      return [first?.workspace.id ?? "", first?.workflows[0]?.steps.at(-1)?.id ?? ""] as const;
    });
    return new Api(page, talk, workspaceId, lastStepId);
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }

  async request<A extends RequestAction>(action: A, payload: RequestOf<A>): Promise<ResponseOf<A>> {
    const answer = this.talk.evaluate(({ ask }, [name, carried]) => ask(name, carried), [
      action,
      payload,
    ] as const);
    return (await answer) as ResponseOf<A>;
  }

  /** Registers a repository; tasks made from now on work on it too. */
  async addRepository(path: string): Promise<void> {
    const added = await this.request("repository.add", { workspace_id: this.workspaceId, path });
    this.repositoryIds.push(added.id);
  }

  async addProfile(fields: AgentProfileFields): Promise<AgentProfile> {
    return this.request("agent_profile.create", { workspace_id: this.workspaceId, ...fields });
  }

  /** Makes a task on the registered repositories. With a prompt an agent, the demo agent unless another is named, starts at once. */
  async addTask(title: string, prompt?: string, { baseBranch, agent }: TaskOptions = {}): Promise<Task> {
    this.made += 1;
    const { task } = await this.request("task.create", {
      workspace_id: this.workspaceId,
      client_id: `task-${this.made}`,
      title,
      repositories: this.repositoryIds.map((id) => ({
        repository_id: id,
        ...(baseBranch === undefined ? {} : { base_branch: baseBranch }),
      })),
      environment: "own",
      start_agent: prompt !== undefined,
      ...(prompt === undefined ? {} : { prompt }),
      ...(agent === undefined ? {} : { agent_profile_id: agent.id }),
    });
    return task;
  }

  async task(taskId: string): Promise<Task> {
    return (await this.request("task.get", { task_id: taskId })).task;
  }

  async tasks(): Promise<Task[]> {
    return (await this.request("task.list", { workspace_id: this.workspaceId })).tasks;
  }

  async titled(title: string): Promise<Task> {
    const task = (await this.tasks()).find((candidate) => candidate.title === title);
    if (!task) throw new Error(`there is no task ${title}`);
    return task;
  }

  /** Moves a task to the step that means done. */
  async finish(taskId: string): Promise<void> {
    await this.request("task.move", { task_id: taskId, step_id: this.lastStepId });
  }

  /** Says something to the task's session, which must be there. */
  async say(taskId: string, content: string): Promise<void> {
    const sessionId = (await this.task(taskId)).status_summary?.primary_session?.id;
    if (!sessionId) throw new Error("the task has no session yet");
    this.made += 1;
    await this.request("message.add", {
      task_id: taskId,
      session_id: sessionId,
      client_message_id: `message-${this.made}`,
      content,
    });
  }

  /** Answers the newest open request of a task, as another person might. */
  async answerFirst(taskId: string, kind: string): Promise<void> {
    const [request] = (await this.request("task.pending", { task_id: taskId })).requests;
    const option = request?.options.find((candidate) => candidate.kind === kind);
    if (!request || !option) throw new Error("nothing to answer");
    const { session_id, message_id, pending_id } = request;
    await this.request("permission.respond", {
      session_id,
      message_id,
      pending_id,
      option_id: option.id,
      cancelled: false,
    });
  }

  /** Answers the one question that a task waits on by an option's label, as another person might. */
  async answerQuestion(taskId: string, label: string): Promise<void> {
    const [request] = (await this.request("task.pending", { task_id: taskId })).requests;
    const option = request?.clarification?.question.options.find((candidate) => candidate.label === label);
    if (!request || !option) throw new Error("nothing to answer");
    const { session_id, message_id, pending_id } = request;
    const answers = [{ message_id, selected: [option.id] }];
    await this.request("clarification.respond", {
      session_id,
      message_id,
      pending_id,
      answers,
      rejected: false,
    });
  }

  /** The folders in which the task's agent works, in the order of its repositories. */
  async worktrees(title: string): Promise<string[]> {
    const worktrees = (await this.titled(title)).environments.flatMap(({ repositories }) => repositories);
    return worktrees.map(({ worktree_path }) => worktree_path);
  }
}

/** Runs in the page: signs in, opens a socket, and gives a function that asks and waits for the answer. */
async function beginTalk(code: string): Promise<Talk> {
  const headers = { "content-type": "application/json" };
  const signIn = { method: "POST", headers, body: JSON.stringify({ code }) };
  const { secret } = await (await fetch("/api/v1/sign-in", signIn)).json();
  const answer = await fetch("/api/v1/boot", { headers: { authorization: `Bearer ${secret}` } });
  const boot = (await answer.json()) as Boot;
  const socket = new WebSocket(`${location.origin.replace("http", "ws")}/ws`, ["flightstrip.v1", secret]);
  const waiting = new Map<string, { resolve(payload: unknown): void; reject(error: Error): void }>();
  socket.onmessage = ({ data }) => {
    const frame = JSON.parse(data);
    const asked = waiting.get(frame.id);
    waiting.delete(frame.id);
    if (frame.type === "error") asked?.reject(new Error(JSON.stringify(frame.payload)));
    else asked?.resolve(frame.payload);
  };
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("no socket"));
  });
  let asked = 0;
  const ask: Ask = (action, payload) =>
    new Promise((resolve, reject) => {
      asked += 1;
      waiting.set(`a${asked}`, { resolve, reject });
      socket.send(JSON.stringify({ id: `a${asked}`, type: "request", action, payload }));
    });
  return { boot, ask };
}
