import { GitMerge, PanelRightClose, PanelRightOpen, TriangleAlert } from "lucide-react";
import { openDialog, setUi } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { StateIcon } from "~/features/switcher/StateIcon";
import { useRowModel } from "~/features/switcher/use-row-model";
import type { Place } from "~/places/place";
import type { RowModel } from "~/rows/row-model";
import { Button } from "~/ui/Button";
import { IconButton } from "~/ui/IconButton";
import type { Session } from "~/wire/generated/Session";
import type { Task } from "~/wire/generated/Task";
import { BranchLine } from "./BranchLine";
import { SessionTabs } from "./SessionTabs";
import { TaskMenu } from "./TaskMenu";

interface TaskHeaderProps {
  task: Task;
  place: Extract<Place, { kind: "task" }>;
  sessions: Session[];
  shown: Session | undefined;
}

export function TaskHeader({ task, place, sessions, shown }: TaskHeaderProps) {
  const row = useRowModel(task.id);
  const changesOpen = useAppState((state) => state.ui.changesOpen);
  const repositories = task.environments[0]?.repositories ?? [];
  return (
    <header className="border-line border-b px-5 pt-2.5">
      <div className="flex min-h-8 items-center gap-2.5">
        <h1 className="min-w-0 truncate font-[640] text-base tracking-[-0.014em]">{task.title}</h1>
        {row && <StateChip row={row} />}
        <span className="ml-auto flex shrink-0 items-center gap-1">
          {repositories.length > 0 && (
            <Button size="small" onClick={() => openDialog({ kind: "merge", taskId: task.id })}>
              <GitMerge size={14} />
              Merge into {repositories.length === 1 ? (repositories[0]?.base_branch ?? "base") : "base"}
            </Button>
          )}
          <TaskMenu task={task} />
          <IconButton
            label={changesOpen ? "Hide changes" : "Show changes"}
            aria-pressed={changesOpen}
            onClick={() => setUi({ changesOpen: !changesOpen })}
          >
            {changesOpen ? <PanelRightClose size={17} /> : <PanelRightOpen size={17} />}
          </IconButton>
        </span>
      </div>
      <BranchLine task={task} />
      <SessionTabs task={task} place={place} sessions={sessions} shown={shown} />
    </header>
  );
}

function StateChip({ row }: { row: RowModel }) {
  return (
    <span
      data-tone={row.reasonTone}
      className="inline-flex h-6 shrink-0 items-center gap-1.5 rounded-full border border-tone/35 bg-tone-soft px-2.5 font-medium text-tone text-xs [[data-tone=done]]:text-muted [[data-tone=idle]]:text-muted"
    >
      {row.reasonTone === "error" && row.error ? (
        <TriangleAlert size={13} />
      ) : (
        <StateIcon state={row.state} size={13} />
      )}
      {row.reason}
    </span>
  );
}
