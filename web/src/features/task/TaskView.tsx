import { FileDiff, ListTodo, MessageSquare } from "lucide-react";
import { setUi } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { useLayout } from "~/app/use-layout";
import { ChangesPane } from "~/features/changes/ChangesPane";
import { Transcript } from "~/features/chat/Transcript";
import { addFiles } from "~/features/composer/add-files";
import { Composer } from "~/features/composer/Composer";
import { DropArea } from "~/features/composer/DropArea";
import type { Place } from "~/places/place";
import { go } from "~/places/use-place";
import { isOver } from "~/store/sessions";
import { summaryOf, taskOf } from "~/store/tasks";
import { Button } from "~/ui/Button";
import { EmptyState } from "~/ui/EmptyState";
import { Skeleton } from "~/ui/Skeleton";
import { Splitter } from "~/ui/Splitter";
import { Totals } from "~/ui/Totals";
import type { Session } from "~/wire/generated/Session";
import type { Task } from "~/wire/generated/Task";
import { NoSession } from "./NoSession";
import { SessionError } from "./SessionError";
import { TaskHeader } from "./TaskHeader";
import { useTaskSessions } from "./use-task-session";

type TaskPlace = Extract<Place, { kind: "task" }>;

/** One task: its conversation, and its changes beside it or, on a narrow screen, instead of it. */
export function TaskView({ place }: { place: TaskPlace }) {
  const task = useAppState((state) => taskOf(state.tasks, place.taskId));
  const { all, shown } = useTaskSessions(place.taskId, place.sessionId);
  const layout = useLayout();
  if (!task) return <MissingTask place={place} />;
  if (layout === "desktop") return <WideTask task={task} place={place} all={all} shown={shown} />;
  return (
    <main className="flex min-h-0 flex-1 flex-col bg-surface">
      {place.pane === "chat" ? (
        <Chat task={task} session={shown} />
      ) : (
        <ChangesPane task={task} place={place} session={shown} />
      )}
      <PaneTabs place={place} />
    </main>
  );
}

interface WideTaskProps {
  task: Task;
  place: TaskPlace;
  all: Session[];
  shown: Session | undefined;
}

const CHANGES_MIN_PX = 320;
const CHANGES_MAX_PX = 900;

function WideTask({ task, place, all, shown }: WideTaskProps) {
  const open = useAppState((state) => state.ui.changesOpen);
  const width = useAppState((state) => state.ui.changesWidth);
  return (
    <div className="flex min-h-0 min-w-0 flex-1">
      <main className="flex min-w-90 flex-1 flex-col bg-surface">
        <TaskHeader task={task} place={place} sessions={all} shown={shown} />
        <Chat task={task} session={shown} />
      </main>
      {open && (
        <aside aria-label="Changes of the task" className="flex min-h-0 shrink">
          <Splitter
            label="Width of changes"
            panel="after"
            width={width}
            min={CHANGES_MIN_PX}
            max={CHANGES_MAX_PX}
            onResize={(changesWidth) => setUi({ changesWidth })}
          />
          <div style={{ width }} className="flex min-h-0 shrink flex-col bg-bg">
            <ChangesPane task={task} place={place} session={shown} />
          </div>
        </aside>
      )}
    </div>
  );
}

function Chat({ task, session }: { task: Task; session: Session | undefined }) {
  if (!session) return <NoSession task={task} />;
  return (
    <DropArea disabled={isOver(session)} onFiles={(files) => addFiles(session, files)}>
      <Transcript key={session.id} session={session} />
      <SessionError task={task} session={session} />
      <Composer key={`composer ${session.id}`} session={session} />
    </DropArea>
  );
}

/** The bottom tabs of a narrow screen. */
function PaneTabs({ place }: { place: TaskPlace }) {
  const git = useAppState((state) => summaryOf(state.tasks, place.taskId)?.git);
  const tab = (pane: TaskPlace["pane"]) => ({
    "aria-current": place.pane === pane ? ("page" as const) : undefined,
    onClick: () => go({ ...place, pane }, "replace"),
    className: `flex h-14 flex-1 flex-col items-center justify-center gap-0.5 text-[11px] ${place.pane === pane ? "text-accent" : "text-muted"}`,
  });
  return (
    <nav
      aria-label="Panes of the task"
      className="flex shrink-0 border-line border-t pb-[env(safe-area-inset-bottom)]"
    >
      <button type="button" {...tab("chat")}>
        <MessageSquare size={19} /> Chat
      </button>
      <button type="button" {...tab("changes")}>
        <FileDiff size={19} />
        <span className="flex gap-1.5">Changes {git && git.changed_files > 0 && <Totals {...git} />}</span>
      </button>
    </nav>
  );
}

function MissingTask({ place }: { place: TaskPlace }) {
  const list = useAppState((state) => state.tasks.list);
  if (list === "loading") {
    return (
      <main aria-busy="true" aria-label="Loading the task" className="flex-1 bg-surface p-5">
        <Skeleton className="h-5 w-1/3" />
        <Skeleton className="mt-3 h-3.5 w-1/5" />
      </main>
    );
  }
  return (
    <main className="flex flex-1 bg-surface">
      <EmptyState
        level={1}
        icon={<ListTodo size={20} />}
        title="There is no such task"
        action={<Button onClick={() => go({ kind: "home", workspaceId: place.workspaceId })}>Back</Button>}
      >
        It was deleted, or the address is of another workspace.
      </EmptyState>
    </main>
  );
}
