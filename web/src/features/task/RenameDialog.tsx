import { type FormEvent, useState } from "react";
import { commands } from "~/app/runtime";
import { closeDialog } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { failureText } from "~/socket/requests";
import { taskOf } from "~/store/tasks";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { Field } from "~/ui/Field";

export const TITLE_MAX = 200;

export function RenameDialog({ taskId }: { taskId: string }) {
  const task = useAppState((state) => taskOf(state.tasks, taskId));
  const [title, setTitle] = useState(task?.title ?? "");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await commands.updateTask({ task_id: taskId, title: title.trim() });
      closeDialog();
    } catch (failure) {
      setProblem(failureText(failure));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="Rename task"
      width="sm:w-110"
      onClose={closeDialog}
      footer={
        <>
          <Button onClick={closeDialog}>Cancel</Button>
          <Button look="primary" type="submit" form="rename" busy={busy} disabled={title.trim() === ""}>
            Rename
          </Button>
        </>
      }
    >
      <form id="rename" onSubmit={(event) => void save(event)}>
        <Field label="Title" problem={problem}>
          {(control) => (
            <input
              {...control}
              value={title}
              maxLength={TITLE_MAX}
              onChange={(event) => setTitle(event.target.value)}
              className="field"
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
