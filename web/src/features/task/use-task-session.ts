import { useAppSelection, useAppState } from "~/app/use-app-state";
import { sessionsOfTask } from "~/store/sessions";
import { summaryOf } from "~/store/tasks";
import type { Session } from "~/wire/generated/Session";

export interface TaskSessions {
  all: Session[];
  /** The one on screen: the address's, else the primary one, else the first. */
  shown: Session | undefined;
}

export function useTaskSessions(taskId: string | undefined, wanted: string | undefined): TaskSessions {
  const all = useAppSelection((state) =>
    taskId === undefined ? [] : sessionsOfTask(state.sessions, taskId),
  );
  const primary = useAppState((state) =>
    taskId === undefined ? undefined : summaryOf(state.tasks, taskId)?.primary_session?.id,
  );
  const shown =
    all.find((session) => session.id === wanted) ??
    all.find((session) => session.id === primary) ??
    all.find((session) => session.is_primary) ??
    all[0];
  return { all, shown };
}
