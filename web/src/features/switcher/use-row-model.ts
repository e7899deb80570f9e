import { store } from "~/app/runtime";
import { useAppState } from "~/app/use-app-state";
import { useNow } from "~/app/use-now";
import { type RowModel, rowModel } from "~/rows/row-model";
import { summaryOf, taskOf } from "~/store/tasks";

/** Ages in rows count minutes: this is often enough to be right. */
const AGE_TICK_MS = 10_000;

/** What a task's row shows now; `undefined` once the task is gone. It reads the task and its summary, no session. */
export function useRowModel(taskId: string): RowModel | undefined {
  const task = useAppState((state) => taskOf(state.tasks, taskId));
  const summary = useAppState((state) => summaryOf(state.tasks, taskId));
  const onLastStep = useAppState(
    (state) => task !== undefined && state.tasks.lastSteps[task.step_id] === true,
  );
  useAppState((state) => state.workspaces.repositories);
  const nowMs = useNow(AGE_TICK_MS);
  if (!task) return undefined;
  const repositories = store.getState().workspaces.repositories;
  return rowModel(task, summary, {
    nowMs,
    onLastStep,
    repositoryName: (id) => repositories[id]?.name,
  });
}
