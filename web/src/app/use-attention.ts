import { useEffect } from "react";
import { useTaskSessions } from "~/features/task/use-task-session";
import type { Place } from "~/places/place";
import { client } from "./runtime";

/** Tells the client what is on screen, so that it subscribes to that and to nothing else (API-08, WEB-01). */
export function useAttention(place: Place): void {
  const taskId = place.kind === "task" ? place.taskId : undefined;
  const { shown } = useTaskSessions(taskId, place.kind === "task" ? place.sessionId : undefined);
  const sessionId = shown?.id;
  useEffect(() => {
    client.attend({
      taskId,
      sessionIds: sessionId === undefined ? [] : [sessionId],
      focusedSession: sessionId,
    });
  }, [taskId, sessionId]);
}
