/**
 * The switcher's list: which rows, in which groups, in which order.
 *
 * Pure and whole: it is computed anew when something that decides a place changed, never while a person points at
 * the list (`freezeList`), so that nothing moves under the pointer.
 */
import type { SwitcherView } from "~/store/ui";
import type { AttentionGroup } from "~/wire/generated/AttentionGroup";
import type { Repository } from "~/wire/generated/Repository";
import type { Task } from "~/wire/generated/Task";
import type { TaskStatusSummary } from "~/wire/generated/TaskStatusSummary";
import type { Workflow } from "~/wire/generated/Workflow";
import { attentionGroup, rowState } from "./row-state";
import { GROUP_NAME, GROUPS, STATE_NAME } from "./row-words";
import { lastActivity } from "./sort-key";

export interface ListGroup {
  key: string;
  label: string;
  /** Drawn with weight: a person is waited for. */
  urgent: boolean;
  ids: string[];
}

export interface ListInput {
  tasks: readonly Task[];
  summaryOf(id: string): TaskStatusSummary | undefined;
  isLastStep(stepId: string): boolean;
  repositories: Record<string, Repository>;
  workflows: readonly Workflow[];
  view: SwitcherView;
  filter: string;
  archived: boolean;
}

interface Entry {
  task: Task;
  group: AttentionGroup;
  activity: string;
  words: string;
}

export function rowList(input: ListInput): ListGroup[] {
  const words = input.filter.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const entries = input.tasks
    .filter((task) => (task.archived_at !== undefined) === input.archived)
    .map((task) => entryOf(task, input))
    .filter((entry) => words.every((word) => entry.words.includes(word)))
    .sort((a, b) => b.activity.localeCompare(a.activity) || b.task.id.localeCompare(a.task.id));
  if (input.archived) return groupsOf([{ key: "archived", label: "Archived", take: entries }]);
  switch (input.view) {
    case "attention":
      return groupsOf(byAttention(entries));
    case "repository":
      return groupsOf(byRepository(entries, input.repositories));
    case "step":
      return groupsOf(byStep(entries, input.workflows));
  }
}

/** How many rows need a person, whatever the view and the filter. */
export function needsYouIds(input: Pick<ListInput, "tasks" | "summaryOf" | "isLastStep">): string[] {
  return input.tasks
    .filter((task) => task.archived_at === undefined && groupOf(task, input) === "needs_you")
    .map((task) => ({ id: task.id, activity: lastActivity(task, input.summaryOf(task.id)) }))
    .sort((a, b) => b.activity.localeCompare(a.activity) || b.id.localeCompare(a.id))
    .map(({ id }) => id);
}

function factsOf(task: Task, input: Pick<ListInput, "summaryOf" | "isLastStep">) {
  return {
    state: task.state,
    onLastStep: input.isLastStep(task.step_id),
    interrupted: task.interrupted_at !== undefined,
    summary: input.summaryOf(task.id),
  };
}

function groupOf(task: Task, input: Pick<ListInput, "summaryOf" | "isLastStep">): AttentionGroup {
  return attentionGroup(factsOf(task, input));
}

function entryOf(task: Task, input: ListInput): Entry {
  const group = groupOf(task, input);
  const repositories = task.repositories.map((row) => input.repositories[row.repository_id]?.name ?? "");
  const state = STATE_NAME[rowState(factsOf(task, input))];
  return {
    task,
    group,
    activity: lastActivity(task, input.summaryOf(task.id)),
    words: [task.title, ...repositories, state, GROUP_NAME[group]].join(" ").toLowerCase(),
  };
}

interface Draft {
  key: string;
  label: string;
  urgent?: boolean;
  take: Entry[];
}

function groupsOf(drafts: Draft[]): ListGroup[] {
  return drafts
    .filter((draft) => draft.take.length > 0)
    .map(({ key, label, urgent = false, take }) => ({ key, label, urgent, ids: take.map((e) => e.task.id) }));
}

function byAttention(entries: Entry[]): Draft[] {
  return GROUPS.map((group) => ({
    key: group,
    label: GROUP_NAME[group],
    urgent: group === "needs_you",
    take: entries.filter((entry) => entry.group === group),
  }));
}

/** A task of several repositories stands under its first, so that it is listed once. */
function byRepository(entries: Entry[], repositories: Record<string, Repository>): Draft[] {
  const rootOf = (entry: Entry) => entry.task.repositories[0]?.repository_id;
  const named = Object.values(repositories).sort((a, b) => a.name.localeCompare(b.name));
  const groups = named.map(({ id, name }) => ({
    key: id,
    label: name,
    take: entries.filter((entry) => rootOf(entry) === id),
  }));
  const rest = entries.filter((entry) => repositories[rootOf(entry) ?? ""] === undefined);
  return [...groups, { key: "none", label: "No repository", take: rest }];
}

function byStep(entries: Entry[], workflows: readonly Workflow[]): Draft[] {
  return workflows.flatMap((workflow) =>
    workflow.steps.map((step) => ({
      key: step.id,
      label: workflows.length > 1 ? `${workflow.name} · ${step.name}` : step.name,
      take: entries.filter((entry) => entry.task.step_id === step.id),
    })),
  );
}

/**
 * The shown list while a person points at it: rows stay where they are, gone ones go, new ones come at the end of
 * their group or, with a new group, at the end of the list.
 */
export function freezeList(shown: readonly ListGroup[], next: readonly ListGroup[]): ListGroup[] {
  const alive = new Set(next.flatMap((group) => group.ids));
  const placed = new Set(shown.flatMap((group) => group.ids));
  const fresh = (key: string) =>
    next.find((group) => group.key === key)?.ids.filter((id) => !placed.has(id)) ?? [];
  const kept = shown.map((group) => ({
    ...group,
    ids: [...group.ids.filter((id) => alive.has(id)), ...fresh(group.key)],
  }));
  const known = new Set(shown.map((group) => group.key));
  const added = next
    .filter((group) => !known.has(group.key))
    .map((group) => ({ ...group, ids: fresh(group.key) }));
  return [...kept, ...added].filter((group) => group.ids.length > 0);
}

export type ListItem = { kind: "group"; group: ListGroup } | { kind: "row"; id: string; groupKey: string };

/** The list as the virtualiser wants it. */
export function listItems(groups: readonly ListGroup[]): ListItem[] {
  return groups.flatMap((group) => [
    { kind: "group" as const, group },
    ...group.ids.map((id) => ({ kind: "row" as const, id, groupKey: group.key })),
  ]);
}
