import { type ReactNode, useState } from "react";
import { commands } from "~/app/runtime";
import { closeDialog, openDialog } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { currentPlace, go } from "~/places/use-place";
import { failureText, refusalCode } from "~/socket/requests";
import { taskOf } from "~/store/tasks";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { Notice } from "~/ui/Notice";

interface DeleteTaskDialogProps {
  taskId: string;
  /** The server's words about work that would be lost, once it said so. */
  uncommitted: string | undefined;
}

/** Deletes a task. Uncommitted work is asked about a second time, by name. */
export function DeleteTaskDialog({ taskId, uncommitted }: DeleteTaskDialogProps) {
  const title = useAppState((state) => taskOf(state.tasks, taskId)?.title);
  const remove = async () => {
    try {
      await commands.deleteTask(taskId, uncommitted !== undefined);
    } catch (failure) {
      if (refusalCode(failure) !== "CONFLICT" || uncommitted !== undefined) throw failure;
      openDialog({ kind: "delete_task", taskId, uncommitted: failureText(failure) });
      return;
    }
    closeDialog();
    const place = currentPlace();
    if (place.kind === "task" && place.taskId === taskId) {
      go({ kind: "home", workspaceId: place.workspaceId }, "replace");
    }
  };
  return (
    <DeleteDialog
      key={uncommitted}
      heading={uncommitted === undefined ? "Delete this task?" : "Discard uncommitted work?"}
      action={uncommitted === undefined ? "Delete task" : "Discard and delete"}
      remove={remove}
    >
      <p>
        <b className="font-semibold">{title}</b> with its sessions and its worktree. This cannot be undone.
      </p>
      {uncommitted && <Notice tone="ask" title={uncommitted} />}
    </DeleteDialog>
  );
}

/** Deletes a conversation; the worktree stays with the task. */
export function DeleteSessionDialog({ sessionId }: { sessionId: string }) {
  const name = useAppState((state) => state.sessions.byId[sessionId]?.name);
  const remove = async () => {
    await commands.deleteSession(sessionId);
    closeDialog();
  };
  return (
    <DeleteDialog heading="Delete this session?" action="Delete session" remove={remove}>
      <p>
        <b className="font-semibold">{name}</b> with its conversation. The worktree stays. This cannot be
        undone.
      </p>
    </DeleteDialog>
  );
}

interface DeleteDialogProps {
  heading: string;
  action: string;
  remove(): Promise<void>;
  children: ReactNode;
}

function DeleteDialog({ heading, action, remove, children }: DeleteDialogProps) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const run = async () => {
    setBusy(true);
    try {
      await remove();
    } catch (failure) {
      setProblem(failureText(failure));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={heading}
      width="sm:w-110"
      onClose={closeDialog}
      footer={
        <>
          <Button onClick={closeDialog}>Keep it</Button>
          <Button look="danger" busy={busy} onClick={() => void run()}>
            {action}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 text-[13.5px]">
        {children}
        {problem && <Notice tone="error" title={problem} />}
      </div>
    </Dialog>
  );
}
