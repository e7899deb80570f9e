/**
 * Tasks and their status summaries, in shards.
 *
 * Invariants: an older revision never replaces a newer one, of the task and of its summary apart (SUM-07, WEB-07);
 * a deleted id stays dead until the list is loaded anew; `orderStamp` rises only when something that decides a
 * row's place changed, so that ten thousand rows are not sorted for every streamed total.
 */

import { sortKey } from "~/rows/sort-key";
import type { Task } from "~/wire/generated/Task";
import type { TaskStatusSummary } from "~/wire/generated/TaskStatusSummary";
import { emptyRecord, recordOf } from "./records";
import { emptyShards, entryOf, type Sharded, shardOf, valuesOf } from "./sharded";

export interface TasksState {
  byId: Sharded<Task>;
  summaries: Sharded<TaskStatusSummary>;
  /** Ids deleted since the list was last loaded. */
  tombstones: Record<string, true>;
  /** Rises when the place of any row may have changed. */
  orderStamp: number;
  list: "loading" | "loaded" | "failed";
  archivedList: "none" | "loading" | "loaded" | "failed";
  /** How many tasks each list left out, because the server could not read them. */
  unreadable: { living: number; archived: number };
  /** Ids created, changed or deleted while a list was in flight; `undefined` when none is. */
  touched: Record<string, true> | undefined;
  /** Last steps of all boards: a row there is done. Kept here because the sort key reads it. */
  lastSteps: Record<string, true>;
}

export const initialTasks: TasksState = {
  byId: emptyShards(),
  summaries: emptyShards(),
  tombstones: emptyRecord(),
  orderStamp: 0,
  list: "loading",
  archivedList: "none",
  unreadable: { living: 0, archived: 0 },
  touched: undefined,
  lastSteps: emptyRecord(),
};

export function taskOf(state: TasksState, id: string): Task | undefined {
  return entryOf(state.byId, id);
}

export function summaryOf(state: TasksState, id: string): TaskStatusSummary | undefined {
  return entryOf(state.summaries, id);
}

function keyOf(state: TasksState, id: string): string {
  const task = taskOf(state, id);
  return task ? sortKey(task, summaryOf(state, id), state.lastSteps[task.step_id] === true) : "";
}

/** Runs one change of one task and raises the stamp if its place may differ afterwards. */
function keepingOrder(state: TasksState, id: string, change: () => void): void {
  const before = keyOf(state, id);
  change();
  if (keyOf(state, id) !== before) state.orderStamp += 1;
}

/** A task snapshot: of a list, a response or a notification. */
export function receiveTask(state: TasksState, snapshot: Task): void {
  if (state.tombstones[snapshot.id]) return;
  if (state.touched) state.touched[snapshot.id] = true;
  mergeTask(state, snapshot);
}

function mergeTask(state: TasksState, snapshot: Task): void {
  const { status_summary: summary, ...task } = snapshot;
  keepingOrder(state, task.id, () => {
    const held = taskOf(state, task.id);
    if (held === undefined || held.revision < task.revision) shardOf(state.byId, task.id)[task.id] = task;
    if (summary) mergeSummary(state, task.id, summary);
  });
}

function mergeSummary(state: TasksState, id: string, summary: TaskStatusSummary): boolean {
  const held = summaryOf(state, id);
  if (held !== undefined && held.revision >= summary.revision) return false;
  shardOf(state.summaries, id)[id] = summary;
  return true;
}

/** The complete replacement of a summary. Returns whether it was newer than the one held (SUM-07). */
export function receiveSummary(state: TasksState, id: string, summary: TaskStatusSummary): boolean {
  if (state.tombstones[id]) return false;
  let applied = false;
  keepingOrder(state, id, () => {
    applied = mergeSummary(state, id, summary);
  });
  return applied;
}

export function removeTask(state: TasksState, id: string): void {
  state.tombstones[id] = true;
  if (state.touched) state.touched[id] = true;
  dropTask(state, id);
}

function dropTask(state: TasksState, id: string): void {
  if (taskOf(state, id)) state.orderStamp += 1;
  delete shardOf(state.byId, id)[id];
  delete shardOf(state.summaries, id)[id];
}

/** From now until `finishList` everything that happens is remembered, because the list may be older than it. */
export function beginList(state: TasksState): void {
  state.touched = emptyRecord();
  if (state.list !== "loaded") state.list = "loading";
}

/** One page of a list in flight. It never revives what was deleted meanwhile, nor reverts what is newer. */
export function receiveTaskPage(state: TasksState, tasks: Task[]): void {
  for (const task of tasks) {
    if (!state.tombstones[task.id]) mergeTask(state, task);
  }
}

/** The living list is complete: what it did not name, and nothing touched meanwhile, is gone. */
export function finishList(state: TasksState, workspaceId: string, listed: ReadonlySet<string>): void {
  const touched = state.touched ?? emptyRecord();
  for (const task of valuesOf(state.byId)) {
    const mayGo = task.workspace_id === workspaceId && task.archived_at === undefined;
    if (mayGo && !listed.has(task.id) && !touched[task.id]) dropTask(state, task.id);
  }
  for (const id of Object.keys(state.tombstones)) if (!touched[id]) delete state.tombstones[id];
  state.touched = undefined;
  state.list = "loaded";
}

/** A new run of the server numbers anew: whatever it says next is newer than what is held. */
export function forgetTaskRevisions(state: TasksState): void {
  for (const task of valuesOf(state.byId)) task.revision = -1;
  for (const summary of valuesOf(state.summaries)) summary.revision = -1;
}

/** The boards changed: which steps mean done may have too. */
export function setLastSteps(state: TasksState, stepIds: string[]): void {
  state.lastSteps = recordOf(stepIds.map((id) => [id, true] as const));
  state.orderStamp += 1;
}
