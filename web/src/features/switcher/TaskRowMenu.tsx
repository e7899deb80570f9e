import {
  Archive,
  ArchiveRestore,
  CircleCheck,
  CircleX,
  GitBranch,
  MoveRight,
  PenLine,
  RotateCw,
  Trash2,
} from "lucide-react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { openDialog } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { RECOVERY_NAME } from "~/rows/row-words";
import { taskOf } from "~/store/tasks";
import { Menu, MenuChoices, MenuHeading, MenuItem, MenuLine, MenuSub } from "~/ui/Menu";
import type { ActiveError } from "~/wire/generated/ActiveError";
import type { RecoveryAction } from "~/wire/generated/RecoveryAction";
import type { Task } from "~/wire/generated/Task";
import { PendingAnswers } from "./PendingAnswers";
import type { MenuPoint } from "./TaskRow";
import { useRowModel } from "./use-row-model";

/** The actions of one row, opened where the person pointed. */
export function TaskRowMenu({ point, onClose }: { point: MenuPoint; onClose(): void }) {
  const task = useAppState((state) => taskOf(state.tasks, point.taskId));
  const row = useRowModel(point.taskId);
  if (!task || !row) return null;
  const asks = row.state === "permission" || row.state === "clarification";
  return (
    <Menu
      open
      onOpenChange={(open) => !open && onClose()}
      trigger={
        <button
          type="button"
          aria-label="Open menu"
          tabIndex={-1}
          className="pointer-events-none fixed size-0"
          style={{ left: point.x, top: point.y }}
        />
      }
      className="w-76"
    >
      <MenuHeading>
        <span className="block truncate">{task.title}</span>
      </MenuHeading>
      {asks && <PendingAnswers task={task} />}
      {row.error && <ErrorActions task={task} error={row.error} />}
      <MenuItem
        icon={<PenLine size={15} />}
        onSelect={() => openDialog({ kind: "rename_task", taskId: task.id })}
      >
        Rename…
      </MenuItem>
      <MoveMenu task={task} />
      <ArchiveItem task={task} />
      <MenuLine />
      <MenuItem
        danger
        icon={<Trash2 size={15} className="text-error" />}
        onSelect={() => openDialog({ kind: "delete_task", taskId: task.id, uncommitted: undefined })}
      >
        Delete…
      </MenuItem>
    </Menu>
  );
}

function MoveMenu({ task }: { task: Task }) {
  const workflow = useAppState((state) => state.workspaces.workflows[task.workflow_id]);
  if (!workflow) return null;
  const move = (stepId: string) => void attempt("The task was not moved", commands.moveTask(task.id, stepId));
  return (
    <MenuSub icon={<MoveRight size={15} />} label="Move to step">
      <MenuChoices value={task.step_id} onChange={move} choices={workflow.steps} />
    </MenuSub>
  );
}

function ArchiveItem({ task }: { task: Task }) {
  const archived = task.archived_at !== undefined;
  const run = () =>
    void (archived
      ? attempt("The task was not restored", commands.unarchiveTask(task.id))
      : attempt("The task was not archived", commands.archiveTask(task.id)));
  return (
    <MenuItem icon={archived ? <ArchiveRestore size={15} /> : <Archive size={15} />} onSelect={run}>
      {archived ? "Restore from archive" : "Archive"}
    </MenuItem>
  );
}

const RECOVERY_ICON = { retry_default: RotateCw, pick_base_branch: GitBranch, mark_review_done: CircleCheck };

function ErrorActions({ task, error }: { task: Task; error: ActiveError }) {
  const recover = (action: RecoveryAction) => {
    if (action === "pick_base_branch") {
      openDialog({ kind: "pick_base_branch", taskId: task.id, stamp: error.stamp });
    } else void attempt("Recovery did not start", commands.recover(task.id, error.stamp, action));
  };
  const dismiss = () =>
    void attempt("The error was not dismissed", commands.dismissError(task.id, error.stamp));
  return (
    <>
      <p className="mx-1 mb-1 line-clamp-4 break-words rounded-lg bg-error-soft px-2.5 py-2 text-error text-xs">
        {error.preview}
      </p>
      {error.recovery_actions?.map((action) => {
        const Icon = RECOVERY_ICON[action];
        return (
          <MenuItem key={action} icon={<Icon size={15} />} onSelect={() => recover(action)}>
            {RECOVERY_NAME[action]}
          </MenuItem>
        );
      })}
      {error.session_id !== undefined && (
        <MenuItem icon={<CircleX size={15} />} onSelect={dismiss}>
          Dismiss error
        </MenuItem>
      )}
      <MenuLine />
    </>
  );
}
