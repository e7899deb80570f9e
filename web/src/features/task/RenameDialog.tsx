import { type FormEvent, useState } from "react";
import { commands } from "~/app/runtime";
import { closeDialog } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { TITLE_MAX } from "~/features/new-task/task-title";
import { failureText } from "~/socket/requests";
import { taskOf } from "~/store/tasks";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { Field } from "~/ui/Field";

export function RenameTaskDialog({ taskId }: { taskId: string }) {
  const title = useAppState((state) => taskOf(state.tasks, taskId)?.title);
  return (
    <RenameDialog
      heading="Rename task"
      label="Title"
      current={title ?? ""}
      save={(next) => commands.updateTask({ task_id: taskId, title: next })}
    />
  );
}

export function RenameSessionDialog({ sessionId }: { sessionId: string }) {
  const name = useAppState((state) => state.sessions.byId[sessionId]?.name);
  return (
    <RenameDialog
      heading="Rename session"
      label="Name"
      current={name ?? ""}
      save={(next) => commands.renameSession(sessionId, next)}
    />
  );
}

interface RenameDialogProps {
  heading: string;
  label: string;
  current: string;
  save(name: string): Promise<void>;
}

function RenameDialog({ heading, label, current, save }: RenameDialogProps) {
  const [name, setName] = useState(current);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await save(name.trim());
      closeDialog();
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
          <Button onClick={closeDialog}>Cancel</Button>
          <Button look="primary" type="submit" form="rename" busy={busy} disabled={name.trim() === ""}>
            Rename
          </Button>
        </>
      }
    >
      <form id="rename" onSubmit={(event) => void submit(event)}>
        <Field label={label} problem={problem}>
          {(control) => (
            <input
              {...control}
              value={name}
              maxLength={TITLE_MAX}
              onChange={(event) => setName(event.target.value)}
              className="field"
            />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
