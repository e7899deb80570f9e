import { Archive, ListFilter, ListTodo, Search } from "lucide-react";
import { type ReactNode, useState } from "react";
import { commands } from "~/app/runtime";
import { openDialog, setUi } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { counted } from "~/format/numbers";
import { usePlace } from "~/places/use-place";
import { Button } from "~/ui/Button";
import { EmptyState } from "~/ui/EmptyState";
import { Skeleton } from "~/ui/Skeleton";
import { SwitcherFooter } from "./SwitcherFooter";
import { SwitcherHeader } from "./SwitcherHeader";
import { SwitcherList } from "./SwitcherList";
import { useRowList } from "./use-row-list";

/** The board of strips: the sidebar of a desktop, the sheet of a tablet, the drawer of a phone. */
export function Switcher({ brand }: { brand: boolean }) {
  const [pointed, setPointed] = useState(false);
  const walked = useAppState((state) => state.ui.walked);
  const workspaceId = useAppState((state) => state.workspaces.current);
  const groups = useRowList(pointed || walked !== undefined);
  const place = usePlace();
  const openTaskId = place.kind === "task" ? place.taskId : undefined;
  return (
    <nav
      aria-label="Task switcher"
      onPointerEnter={(event) => setPointed(event.pointerType === "mouse")}
      onPointerLeave={() => setPointed(false)}
      className="flex min-h-0 flex-1 flex-col"
    >
      <SwitcherHeader brand={brand} />
      {groups.length > 0 && workspaceId ? (
        <SwitcherList
          groups={groups}
          workspaceId={workspaceId}
          openTaskId={openTaskId}
          onOpened={() => setUi({ switcherOpen: false, walked: undefined })}
        />
      ) : (
        <NoRows />
      )}
      <Unreadable />
      <SwitcherFooter />
    </nav>
  );
}

/** Says that the list is not whole, so that nobody takes a task for deleted. */
function Unreadable(): ReactNode {
  const archived = useAppState((state) => state.ui.showArchived);
  const { living, archived: shelved } = useAppState((state) => state.tasks.unreadable);
  const count = archived ? shelved : living;
  if (count === 0) return null;
  return (
    <p role="status" className="shrink-0 border-line border-t px-4 py-2 text-error text-xs">
      {counted(count, "task")} cannot be read and {count === 1 ? "is" : "are"} not shown. The server's log
      says why.
    </p>
  );
}

/** Why there are no rows: still loading, nothing matches, no archive, or no task yet. */
function NoRows(): ReactNode {
  const filter = useAppState((state) => state.ui.filter);
  const archived = useAppState((state) => state.ui.showArchived);
  const list = useAppState((state) => (state.ui.showArchived ? state.tasks.archivedList : state.tasks.list));
  if (list === "loading") return <LoadingRows />;
  if (list === "failed") {
    const again = () => void (archived ? commands.listArchived() : commands.listTasks());
    return (
      <EmptyState
        icon={<ListTodo size={20} />}
        title="Tasks did not load"
        action={<Button onClick={again}>Try again</Button>}
      >
        The list comes by itself when the connection is back.
      </EmptyState>
    );
  }
  if (filter !== "") {
    return (
      <EmptyState
        icon={<Search size={20} />}
        title="No task matches"
        action={<Button onClick={() => setUi({ filter: "" })}>Clear filter</Button>}
      >
        The filter looks at titles, repositories and states.
      </EmptyState>
    );
  }
  if (archived) return <EmptyState icon={<Archive size={20} />} title="Nothing is archived" />;
  return (
    <EmptyState
      icon={<ListFilter size={20} />}
      title="No tasks yet"
      action={
        <Button look="primary" onClick={() => openDialog({ kind: "new_task" })}>
          New task
        </Button>
      }
    >
      A task gives an agent something to do in a worktree of its own.
    </EmptyState>
  );
}

const SKELETON_ROWS = [72, 54, 66, 48, 60, 70];

function LoadingRows() {
  return (
    <div role="status" aria-label="Loading tasks" className="flex-1 px-4 pt-3">
      {SKELETON_ROWS.map((width) => (
        <div key={width} className="flex flex-col gap-2 py-2.5">
          <span style={{ width: `${width}%` }}>
            <Skeleton className="h-3.5" />
          </span>
          <Skeleton className="h-3 w-2/5" />
        </div>
      ))}
    </div>
  );
}
