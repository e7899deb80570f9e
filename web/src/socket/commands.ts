/**
 * What a person can ask for, one function each. A command resolves when the server accepted it; what it changed
 * arrives by notification. Answers that carry an entity are applied at once, by the same rules.
 */

import { receiveReport, receiveSession } from "~/store/sessions";
import { type AppStore, change } from "~/store/store";
import { receiveTask, removeTask } from "~/store/tasks";
import { receiveMessage } from "~/store/transcripts";
import { receiveRow } from "~/store/workspaces";
import type { AgentProfile } from "~/wire/generated/AgentProfile";
import type { AgentProfileFields } from "~/wire/generated/AgentProfileFields";
import type { BranchList } from "~/wire/generated/BranchList";
import type { ClarificationAnswer } from "~/wire/generated/ClarificationAnswer";
import type { GitChangesPage } from "~/wire/generated/GitChangesPage";
import type { GitDiffFile } from "~/wire/generated/GitDiffFile";
import type { GitMerged } from "~/wire/generated/GitMerged";
import type { PendingRequest } from "~/wire/generated/PendingRequest";
import type { RecoveryAction } from "~/wire/generated/RecoveryAction";
import type { Repository } from "~/wire/generated/Repository";
import type { RepositoryFacts } from "~/wire/generated/RepositoryFacts";
import type { Session } from "~/wire/generated/Session";
import type { Task } from "~/wire/generated/Task";
import type { TaskCreate } from "~/wire/generated/TaskCreate";
import type { TaskUpdate } from "~/wire/generated/TaskUpdate";
import type { Client } from "./client";
import { Outbox } from "./outbox";
import { QueueCommands } from "./queue-commands";
import { GIT_DETAIL_MS, GIT_WORK_MS, refusalCode, SEND_MS } from "./requests";
import { Uploads } from "./uploads";

/** Where a request for Git detail points. The root repository has no name. */
export interface RepositoryTarget {
  environmentId: string;
  repository: string;
}

/** Names one request of an agent. */
export interface RequestRef {
  session_id: string;
  message_id: string;
  pending_id: string;
}

export class Commands {
  readonly queue: QueueCommands;
  readonly uploads: Uploads;
  readonly outbox: Outbox;
  private readonly store: AppStore;

  constructor(private readonly client: Client) {
    this.store = client.store;
    this.queue = new QueueCommands(client);
    this.uploads = new Uploads(client.store);
    this.outbox = new Outbox(client, this.uploads);
  }

  // Tasks

  async createTask(task: TaskCreate): Promise<Task> {
    const created = (await this.client.request("task.create", task, GIT_WORK_MS)).task;
    change(this.store, (draft) => receiveTask(draft.tasks, created));
    return created;
  }

  async updateTask(update: TaskUpdate): Promise<void> {
    await this.client.request("task.update", update);
  }

  async moveTask(taskId: string, stepId: string): Promise<void> {
    await this.client.request("task.move", { task_id: taskId, step_id: stepId });
  }

  async archiveTask(taskId: string): Promise<void> {
    await this.client.request("task.archive", { task_id: taskId });
  }

  async unarchiveTask(taskId: string): Promise<void> {
    await this.client.request("task.unarchive", { task_id: taskId });
  }

  async deleteTask(taskId: string, discardChanges: boolean): Promise<void> {
    const payload = { task_id: taskId, discard_changes: discardChanges };
    await this.client.request("task.delete", payload, GIT_WORK_MS);
    change(this.store, (draft) => removeTask(draft.tasks, taskId));
  }

  /** The requests a task waits on, without opening any of its sessions. */
  async pending(taskId: string): Promise<PendingRequest[]> {
    return (await this.client.request("task.pending", { task_id: taskId })).requests;
  }

  async dismissError(taskId: string, stamp: string): Promise<void> {
    await this.client.request("task.dismiss_error", { task_id: taskId, stamp });
  }

  async recover(taskId: string, stamp: string, action: RecoveryAction, baseBranch?: string): Promise<void> {
    await this.client.request(
      "task.recover",
      { task_id: taskId, stamp, action, ...(baseBranch === undefined ? {} : { base_branch: baseBranch }) },
      GIT_WORK_MS,
    );
  }

  async listArchived(): Promise<void> {
    await this.client.listArchived();
  }

  async listTasks(): Promise<void> {
    await this.client.listTasks();
  }

  // Sessions

  async launchSession(taskId: string, clientId: string, profileId: string): Promise<Session> {
    const launch = {
      task_id: taskId,
      client_id: clientId,
      agent_profile_id: profileId,
      environment: "task" as const,
    };
    const { session } = await this.client.request("session.launch", launch, GIT_WORK_MS);
    change(this.store, (draft) => receiveSession(draft.sessions, session));
    return session;
  }

  async renameSession(sessionId: string, name: string): Promise<void> {
    await this.client.request("session.rename", { session_id: sessionId, name });
  }

  async makePrimary(sessionId: string): Promise<void> {
    await this.client.request("session.set_primary", { session_id: sessionId });
  }

  async stopSession(sessionId: string): Promise<void> {
    await this.client.request("session.stop", { session_id: sessionId });
  }

  async closeSession(sessionId: string): Promise<void> {
    await this.client.request("session.close", { session_id: sessionId });
  }

  async deleteSession(sessionId: string): Promise<void> {
    const payload = { session_id: sessionId, discard_changes: false };
    await this.client.request("session.delete", payload, GIT_WORK_MS);
  }

  async cancelTurn(sessionId: string): Promise<void> {
    await this.client.request("agent.cancel", { session_id: sessionId });
  }

  async setModel(sessionId: string, model: string): Promise<void> {
    await this.client.request("session.set_model", { session_id: sessionId, model }, SEND_MS);
    change(this.store, (draft) => receiveReport(draft.sessions, sessionId, { currentModel: model }));
  }

  async setMode(sessionId: string, mode: string): Promise<void> {
    await this.client.request("session.set_mode", { session_id: sessionId, mode }, SEND_MS);
    change(this.store, (draft) => receiveReport(draft.sessions, sessionId, { currentMode: mode }));
  }

  async setOption(sessionId: string, option: string, value: string): Promise<void> {
    await this.client.request("session.set_option", { session_id: sessionId, option, value }, SEND_MS);
  }

  // Messages

  async resend(sessionId: string, messageId: string): Promise<void> {
    const { message } = await this.client.request(
      "message.resend",
      this.messageRef(sessionId, messageId),
      SEND_MS,
    );
    change(this.store, (draft) => receiveMessage(draft.transcripts, message));
  }

  async olderMessages(sessionId: string): Promise<void> {
    await this.client.sessions.older(sessionId);
  }

  async reloadTranscript(sessionId: string): Promise<void> {
    await this.client.sessions.reload(sessionId);
  }

  // Permissions and questions

  /** One of the agent's own options, or none: the request is cancelled. */
  async answer(request: RequestRef, optionId: string | undefined): Promise<void> {
    const { session_id, message_id, pending_id } = request;
    const choice = optionId === undefined ? { cancelled: true } : { option_id: optionId, cancelled: false };
    await this.decide(session_id, [message_id], () =>
      this.client.request("permission.respond", { session_id, message_id, pending_id, ...choice }),
    );
  }

  /** Answers, or declines, the questions of one bundle, which are the rows `ids`. */
  async answerQuestions(
    bundle: RequestRef,
    ids: readonly string[],
    answers: ClarificationAnswer[],
    rejected: boolean,
  ): Promise<void> {
    const { session_id, message_id, pending_id } = bundle;
    const payload = { session_id, message_id, pending_id, answers, rejected };
    await this.decide(session_id, ids, () => this.client.request("clarification.respond", payload));
  }

  /** After a conflict the rows are read again: nothing stale is offered twice. */
  private async decide(
    sessionId: string,
    ids: readonly string[],
    send: () => Promise<unknown>,
  ): Promise<void> {
    try {
      await send();
    } catch (failure) {
      if (refusalCode(failure) === "CONFLICT") await Promise.all(ids.map((id) => this.reread(sessionId, id)));
      throw failure;
    }
  }

  private async reread(sessionId: string, messageId: string): Promise<void> {
    try {
      const { message } = await this.client.request("message.get", this.messageRef(sessionId, messageId));
      change(this.store, (draft) => receiveMessage(draft.transcripts, message));
    } catch {
      // The refusal itself is what the person must hear; the row repairs itself with the next list.
    }
  }

  // Git

  async refreshGit(sessionId: string): Promise<void> {
    await this.client.request("session.git.refresh", { session_id: sessionId }, GIT_DETAIL_MS);
  }

  async changes(target: RepositoryTarget, cursor: string | undefined): Promise<GitChangesPage> {
    const payload = { ...this.gitTarget(target), ...(cursor === undefined ? {} : { cursor }) };
    return this.client.request("git.changes", payload, GIT_DETAIL_MS);
  }

  async diff(target: RepositoryTarget, path: string): Promise<GitDiffFile> {
    return this.client.request("git.diff", { ...this.gitTarget(target), path }, GIT_DETAIL_MS);
  }

  async mergeIntoBase(target: RepositoryTarget): Promise<GitMerged> {
    return this.client.request("git.merge_into_base", this.gitTarget(target), GIT_WORK_MS);
  }

  // Repositories and agents

  async inspectRepository(workspaceId: string, path: string): Promise<RepositoryFacts> {
    return this.client.request("repository.inspect", { workspace_id: workspaceId, path }, GIT_DETAIL_MS);
  }

  async suggestRepositories(workspaceId: string): Promise<string[]> {
    const answer = await this.client.request(
      "repository.suggest",
      { workspace_id: workspaceId },
      GIT_DETAIL_MS,
    );
    return answer.paths;
  }

  async branches(repositoryId: string): Promise<BranchList> {
    return this.client.request("repository.branches", { repository_id: repositoryId }, GIT_DETAIL_MS);
  }

  async addRepository(workspaceId: string, path: string): Promise<Repository> {
    const repository = await this.client.request(
      "repository.add",
      { workspace_id: workspaceId, path },
      GIT_DETAIL_MS,
    );
    change(this.store, (draft) => receiveRow(draft.workspaces.repositories, repository));
    return repository;
  }

  async updateRepository(
    repositoryId: string,
    fields: { name?: string; default_branch?: string },
  ): Promise<void> {
    const payload = { repository_id: repositoryId, ...fields };
    const repository = await this.client.request("repository.update", payload);
    change(this.store, (draft) => receiveRow(draft.workspaces.repositories, repository));
  }

  async removeRepository(repositoryId: string): Promise<void> {
    await this.client.request("repository.remove", { repository_id: repositoryId });
    change(this.store, (draft) => {
      delete draft.workspaces.repositories[repositoryId];
    });
  }

  async refreshKnownAgents(): Promise<void> {
    const { agents } = await this.client.request("agent.known", {});
    change(this.store, (draft) => {
      draft.workspaces.knownAgents = agents;
    });
  }

  async createProfile(workspaceId: string, fields: AgentProfileFields): Promise<AgentProfile> {
    const profile = await this.client.request("agent_profile.create", {
      workspace_id: workspaceId,
      ...fields,
    });
    change(this.store, (draft) => receiveRow(draft.workspaces.profiles, profile));
    return profile;
  }

  async updateProfile(profileId: string, fields: AgentProfileFields): Promise<void> {
    const payload = { agent_profile_id: profileId, ...fields };
    const profile = await this.client.request("agent_profile.update", payload);
    change(this.store, (draft) => receiveRow(draft.workspaces.profiles, profile));
  }

  async deleteProfile(profileId: string): Promise<void> {
    await this.client.request("agent_profile.delete", { agent_profile_id: profileId });
    change(this.store, (draft) => {
      delete draft.workspaces.profiles[profileId];
    });
  }

  private messageRef(sessionId: string, messageId: string) {
    return { session_id: sessionId, message_id: messageId };
  }

  private gitTarget(target: RepositoryTarget) {
    const repository = target.repository === "" ? {} : { repository: target.repository };
    return { task_environment_id: target.environmentId, ...repository };
  }
}
