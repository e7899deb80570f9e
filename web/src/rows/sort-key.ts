/** Everything that decides where a row stands, as one string to compare: equal keys mean "nothing moves". */
import type { Task } from "~/wire/generated/Task";
import type { TaskStatusSummary } from "~/wire/generated/TaskStatusSummary";
import { attentionGroup } from "./row-state";

type RowTask = Omit<Task, "status_summary">;

export function sortKey(task: RowTask, summary: TaskStatusSummary | undefined, onLastStep: boolean): string {
  const group = attentionGroup({
    state: task.state,
    onLastStep,
    interrupted: task.interrupted_at !== undefined,
    summary,
  });
  return [
    group,
    lastActivity(task, summary),
    task.step_id,
    task.repositories.map((repository) => repository.repository_id).join(","),
    task.archived_at ?? "",
    task.title,
  ].join("\n");
}

/** When something last happened in the task, as far as we know. */
export function lastActivity(task: RowTask, summary: TaskStatusSummary | undefined): string {
  return summary?.last_activity_at ?? task.updated_at;
}
