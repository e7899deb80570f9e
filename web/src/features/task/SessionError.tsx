import { useAppState } from "~/app/use-app-state";
import { categoryName } from "~/rows/row-words";
import { summaryOf } from "~/store/tasks";
import { Notice } from "~/ui/Notice";
import type { Session } from "~/wire/generated/Session";
import type { Task } from "~/wire/generated/Task";
import { RecoveryButtons } from "./RecoveryButtons";

/** The error of the session on screen, above the field where the person would go on. */
export function SessionError({ task, session }: { task: Task; session: Session }) {
  const ofTask = useAppState((state) => summaryOf(state.tasks, task.id)?.active_error);
  const error = session.error ?? (ofTask?.session_id === undefined ? ofTask : undefined);
  if (!error) return null;
  return (
    <div className="mx-auto w-full max-w-190 px-5 pb-3 max-sm:px-2.5">
      <Notice
        tone="error"
        title={categoryName(error.category)}
        action={<RecoveryButtons taskId={task.id} error={error} />}
      >
        {error.preview}
      </Notice>
    </div>
  );
}
