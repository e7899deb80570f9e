import { useState } from "react";
import { commands } from "~/app/runtime";
import { closeDialog } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { BranchPicker } from "~/features/new-task/BranchPicker";
import { failureText } from "~/socket/requests";
import { summaryOf, taskOf } from "~/store/tasks";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { Field } from "~/ui/Field";

/** Recovers a launch whose base branch is missing: on another one, chosen here. */
export function PickBaseBranchDialog({ taskId, stamp }: { taskId: string; stamp: string }) {
  const task = useAppState((state) => taskOf(state.tasks, taskId));
  const error = useAppState((state) => summaryOf(state.tasks, taskId)?.active_error);
  const target = error?.task_repository_id;
  // The default branch is no choice but an action of its own, when the error offers it.
  const takesDefault = error?.recovery_actions?.includes("retry_default") ?? false;
  const [branch, setBranch] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const repository = task?.repositories.find((row) => row.id === target) ?? task?.repositories[0];
  const recover = async () => {
    setBusy(true);
    try {
      await commands.recover(taskId, stamp, branch ? "pick_base_branch" : "retry_default", branch);
      closeDialog();
    } catch (failure) {
      setProblem(failureText(failure));
      setBusy(false);
    }
  };
  if (!repository) return null;
  return (
    <Dialog
      title="Choose a base branch"
      description="The task's worktree starts from it, and changes are counted against it."
      width="sm:w-110"
      onClose={closeDialog}
      footer={
        <>
          <Button onClick={closeDialog}>Cancel</Button>
          <Button
            look="primary"
            busy={busy}
            disabled={!(branch || takesDefault)}
            onClick={() => void recover()}
          >
            Start again
          </Button>
        </>
      }
    >
      <Field label="Base branch" problem={problem}>
        {(control) => (
          <BranchPicker
            control={control}
            repositoryId={repository.repository_id}
            value={branch}
            onChange={setBranch}
          />
        )}
      </Field>
    </Dialog>
  );
}
