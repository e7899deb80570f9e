import { MousePointerClick } from "lucide-react";
import { useMemo } from "react";
import { WelcomeView } from "~/features/first-run/WelcomeView";
import { goToNextThatNeedsYou } from "~/features/palette/palette-actions";
import { currentRowIds, useNeedsYouCount } from "~/features/switcher/use-row-list";
import { counted } from "~/format/numbers";
import { Button } from "~/ui/Button";
import { EmptyState } from "~/ui/EmptyState";
import { Kbd } from "~/ui/Kbd";
import { openDialog, setUi } from "./ui-actions";
import { useAppState } from "./use-app-state";
import { useLayout } from "./use-layout";

/** No task is open: the first minute of a new workspace, or a hint where to go. */
export function HomeView() {
  const stamp = useAppState((state) => state.tasks.orderStamp);
  const loaded = useAppState((state) => state.tasks.list === "loaded");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the stamp rises with every task that comes or goes.
  const empty = useMemo(() => currentRowIds().length === 0, [stamp]);
  const filtered = useAppState((state) => state.ui.filter !== "" || state.ui.showArchived);
  const layout = useLayout();
  const needsYou = useNeedsYouCount();
  if (loaded && empty && !filtered) return <WelcomeView />;
  const title = needsYou === 0 ? "Nothing needs you" : `${counted(needsYou, "task needs", "tasks need")} you`;
  return (
    <main className="flex flex-1 bg-surface">
      <EmptyState
        level={1}
        icon={<MousePointerClick size={20} />}
        title={title}
        action={
          <>
            {needsYou > 0 && (
              <Button look="primary" onClick={goToNextThatNeedsYou}>
                Open the next one <Kbd className="border-current text-inherit">g n</Kbd>
              </Button>
            )}
            {layout === "desktop" ? (
              <Button onClick={() => openDialog({ kind: "new_task" })}>
                New task <Kbd>c</Kbd>
              </Button>
            ) : (
              <Button onClick={() => setUi({ switcherOpen: true })}>Show tasks</Button>
            )}
          </>
        }
      >
        Choose a task from the list. Its conversation and its changes open here.
      </EmptyState>
    </main>
  );
}
