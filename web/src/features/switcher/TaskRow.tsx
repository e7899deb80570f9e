import { Ellipsis, TriangleAlert } from "lucide-react";
import { type MouseEvent, memo } from "react";
import { counted } from "~/format/numbers";
import { placeAddress, taskPlace } from "~/places/place";
import { go } from "~/places/use-place";
import type { RowModel } from "~/rows/row-model";
import { Tooltip } from "~/ui/Tooltip";
import { Totals } from "~/ui/Totals";
import { PullRequestChip } from "./PullRequestChip";
import { StateIcon } from "./StateIcon";
import { useRowModel } from "./use-row-model";

export interface MenuPoint {
  taskId: string;
  x: number;
  y: number;
}

interface TaskRowProps {
  taskId: string;
  workspaceId: string;
  /** The task on screen. */
  open: boolean;
  /** The row that the keys are on. */
  walked: boolean;
  onMenu(point: MenuPoint): void;
  onOpened(): void;
}

/** One strip. Everything on it comes from the row model; opening it is a link, so it can be opened elsewhere too. */
export const TaskRow = memo(function TaskRow({
  taskId,
  workspaceId,
  open,
  walked,
  onMenu,
  onOpened,
}: TaskRowProps) {
  const row = useRowModel(taskId);
  if (!row) return null;
  const place = taskPlace(workspaceId, taskId);
  const openTask = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(place);
    onOpened();
  };
  const menuAt = (event: MouseEvent) => {
    event.preventDefault();
    onMenu({ taskId, x: event.clientX, y: event.clientY });
  };
  const quiet = row.group === "done" || row.archived;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the same menu opens from the row's button.
    <div
      data-tone={row.reasonTone}
      onContextMenu={menuAt}
      className={`group relative grid h-full grid-cols-[16px_minmax(0,1fr)_auto] content-center gap-x-2.5 gap-y-0.5 rounded-lg pr-2.5 pl-3.5 transition-colors touch:grid-cols-[18px_minmax(0,1fr)_auto_34px] touch:pr-1 ${
        open ? "bg-surface shadow-strip" : "hover:bg-hover/70"
      } ${walked ? "outline-2 outline-accent/60" : ""}`}
    >
      <span aria-hidden="true" className="absolute inset-y-2 left-1 w-0.75 rounded-full bg-tone" />
      <span data-tone={row.tone} className="row-span-2 mt-0.5 text-tone">
        <StateIcon state={row.state} />
      </span>
      <a
        href={placeAddress(place)}
        onClick={openTask}
        aria-current={open ? "page" : undefined}
        className={`truncate leading-5 tracking-[-0.006em] outline-offset-0 after:absolute after:inset-0 after:rounded-lg max-sm:text-[15px] ${
          quiet ? "text-muted" : "font-[520]"
        }`}
      >
        {row.title}
      </a>
      <RowFigures row={row} />
      <RowDetails row={row} />
      {row.pullRequest && (
        <span className="z-1 justify-self-end text-xs">
          <PullRequestChip pullRequest={row.pullRequest} />
        </span>
      )}
      <button
        type="button"
        aria-label={`Actions for ${row.title}`}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          onMenu({ taskId, x: box.right, y: box.bottom });
        }}
        className="absolute top-1.5 right-1.5 z-2 grid size-6 place-items-center rounded-md bg-hover text-muted opacity-0 hover:text-text focus-visible:opacity-100 group-hover:opacity-100 touch:static touch:col-start-4 touch:row-span-2 touch:row-start-1 touch:h-11 touch:w-full touch:self-center touch:bg-transparent touch:opacity-100"
      >
        <Ellipsis size={16} />
      </button>
    </div>
  );
});

/** Error mark and totals. A pointer over the row covers the totals by the menu's button. */
function RowFigures({ row }: { row: RowModel }) {
  const measured = row.git && row.git.changed_files > 0;
  return (
    <span className="flex items-center gap-1.5 text-xs leading-5 group-hover:opacity-0 touch:group-hover:opacity-100">
      {row.error && (
        <Tooltip text={row.error.preview}>
          <span role="img" aria-label={`Error: ${row.error.preview}`} className="z-1 text-error">
            <TriangleAlert size={14} />
          </span>
        </Tooltip>
      )}
      {measured && row.git && <Totals additions={row.git.additions} deletions={row.git.deletions} />}
    </span>
  );
}

function RowDetails({ row }: { row: RowModel }) {
  const urgent = row.group === "needs_you";
  const details = [
    { text: row.age, look: "shrink-0" },
    { text: row.queued > 0 ? `${row.queued} queued` : "", look: "shrink-0" },
    { text: row.subagents > 0 ? counted(row.subagents, "subagent") : "", look: "shrink-0" },
    // Names come last, where they may be cut: figures cut short say nothing.
    { text: row.repositories.join(", "), look: "truncate" },
  ].filter(({ text }) => text !== "");
  return (
    <p
      className={`num flex min-w-0 items-center gap-1.5 overflow-hidden whitespace-nowrap text-muted text-xs leading-4.5 ${row.pullRequest ? "" : "col-span-2"}`}
    >
      <span className={urgent ? "shrink-0 font-semibold text-tone" : "shrink-0"}>{row.reason}</span>
      {details.map(({ text, look }) => (
        <span key={text} className={`before:mr-1.5 before:text-faint before:content-['·'] ${look}`}>
          {text}
        </span>
      ))}
    </p>
  );
}
