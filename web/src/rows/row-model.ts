/**
 * One pure function from a task and its summary to what a row shows. The sidebar, the drawer of the phone and the
 * task's header all draw this value, so they cannot disagree (WEB-01, WEB-05). It reads no session.
 */
import { shortAge } from "~/format/relative-time";
import type { ActiveError } from "~/wire/generated/ActiveError";
import type { AttentionGroup } from "~/wire/generated/AttentionGroup";
import type { GitTotals } from "~/wire/generated/GitTotals";
import type { PullRequestSummary } from "~/wire/generated/PullRequestSummary";
import type { RowState } from "~/wire/generated/RowState";
import type { Task } from "~/wire/generated/Task";
import type { TaskStatusSummary } from "~/wire/generated/TaskStatusSummary";
import { attentionGroup, rowState } from "./row-state";
import { categoryName, STATE_NAME, STATE_TONE, type Tone } from "./row-words";
import { lastActivity } from "./sort-key";

export interface RowContext {
  nowMs: number;
  onLastStep: boolean;
  repositoryName(repositoryId: string): string | undefined;
}

export interface RowModel {
  id: string;
  title: string;
  state: RowState;
  stateName: string;
  group: AttentionGroup;
  /** The icon's tone: of the state alone. */
  tone: Tone;
  /** The edge's and the reason's tone: an error outranks a state that asks for nothing. */
  reasonTone: Tone;
  /** Why a person should look, in words. */
  reason: string;
  /** The moment the age counts from: pending since, error time, or last activity. */
  since: string;
  age: string;
  repositories: string[];
  queued: number;
  subagents: number;
  /** Absent: unknown, which is not zero. */
  git: GitTotals | undefined;
  pullRequest: PullRequestSummary | undefined;
  error: ActiveError | undefined;
  archived: boolean;
}

export function rowModel(task: Task, summary: TaskStatusSummary | undefined, context: RowContext): RowModel {
  const facts = {
    state: task.state,
    onLastStep: context.onLastStep,
    interrupted: task.interrupted_at !== undefined,
    summary,
  };
  const state = rowState(facts);
  const error = summary?.active_error;
  const asks = summary?.pending_action !== undefined;
  const speaksOfError = error !== undefined && !asks;
  const since = sinceWhen(task, summary);
  return {
    id: task.id,
    title: task.title,
    state,
    stateName: STATE_NAME[state],
    group: attentionGroup(facts),
    tone: STATE_TONE[state],
    reasonTone: speaksOfError ? "error" : STATE_TONE[state],
    reason: speaksOfError ? categoryName(error.category) : STATE_NAME[state],
    since,
    age: shortAge(since, context.nowMs),
    repositories: repositoryNames(task, context),
    queued: summary?.queued_prompt_count ?? 0,
    subagents: summary?.active_subagent_count ?? 0,
    git: summary?.git,
    pullRequest: summary?.pull_request,
    error,
    archived: task.archived_at !== undefined,
  };
}

function sinceWhen(task: Task, summary: TaskStatusSummary | undefined): string {
  return summary?.pending_since ?? summary?.active_error?.occurred_at ?? lastActivity(task, summary);
}

function repositoryNames(task: Task, context: RowContext): string[] {
  const names = task.repositories.map((repository) => context.repositoryName(repository.repository_id));
  return names.filter((name) => name !== undefined);
}
