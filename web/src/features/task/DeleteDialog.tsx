import { useState } from "react";
import { commands } from "~/app/runtime";
import { closeDialog, openDialog } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { currentPlace, go } from "~/places/use-place";
import { failureText, refusalCode } from "~/socket/requests";
import { taskOf } from "~/store/tasks";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { Notice } from "~/ui/Notice";

interface DeleteDialogProps {
  taskId: string;
  /** The server's words about work that would be lost, once it said so. */
  uncommitted: string | undefined;
}

/** Deletes a task. Uncommitted work is asked about a second time, by name. */
export function DeleteDialog({ taskId, uncommitted }: DeleteDialogProps) {
  const title = useAppState((state) => taskOf(state.tasks, taskId)?.title);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const remove = async () => {
    setBusy(true);
    try {
      await commands.deleteTask(taskId, uncommitted !== undefined);
      closeDialog();
      const place = currentPlace();
      if (place.kind === "task" && place.taskId === taskId) {
        go({ kind: "home", workspaceId: place.workspaceId }, "replace");
      }
    } catch (failure) {
      setBusy(false);
      if (refusalCode(failure) === "CONFLICT" && uncommitted === undefined) {
        openDialog({ kind: "delete_task", taskId, uncommitted: failureText(failure) });
      } else setProblem(failureText(failure));
    }
  };
  return (
    <Dialog
      title={uncommitted === undefined ? "Delete this task?" : "Discard uncommitted work?"}
      width="sm:w-110"
      onClose={closeDialog}
      footer={
        <>
          <Button onClick={closeDialog}>Keep it</Button>
          <Button look="danger" busy={busy} onClick={() => void remove()}>
            {uncommitted === undefined ? "Delete task" : "Discard and delete"}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 text-[13.5px]">
        <p>
          <b className="font-semibold">{title}</b> with its sessions and its worktree. This cannot be undone.
        </p>
        {uncommitted && <Notice tone="ask" title={uncommitted} />}
        {problem && <Notice tone="error" title={problem} />}
      </div>
    </Dialog>
  );
}
