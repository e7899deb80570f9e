import { useEffect } from "react";
import { ConnectionNotice } from "~/features/connection/ConnectionNotice";
import { SettingsView } from "~/features/settings/SettingsView";
import { Switcher } from "~/features/switcher/Switcher";
import { TaskView } from "~/features/task/TaskView";
import { TitleBar } from "~/features/task/TitleBar";
import type { Place } from "~/places/place";
import { go, usePlace } from "~/places/use-place";
import { ErrorBoundary } from "~/ui/ErrorBoundary";
import { Sheet } from "~/ui/Sheet";
import { Splitter } from "~/ui/Splitter";
import { Dialogs } from "./Dialogs";
import { HomeView } from "./HomeView";
import { client } from "./runtime";
import { setUi } from "./ui-actions";
import { useAppState } from "./use-app-state";
import { useAttention } from "./use-attention";
import { useLayout } from "./use-layout";
import { usePageSign } from "./use-page-sign";
import { useShortcuts } from "./use-shortcuts";

const SWITCHER_MIN_PX = 260;
const SWITCHER_MAX_PX = 520;

/** The signed-in page: the switcher, and the place the person is at. */
export function Shell() {
  const place = usePlace();
  const layout = useLayout();
  useAttention(place);
  usePageSign();
  useShortcuts();
  useWorkspaceInAddress(place);
  return (
    <div className="flex h-full flex-col pt-[env(safe-area-inset-top)]">
      <ConnectionNotice />
      {layout === "desktop" ? (
        <div className="flex min-h-0 flex-1">
          <Sidebar />
          <PlaceView place={place} />
        </div>
      ) : (
        <>
          <TitleBar place={place} />
          <PlaceView place={place} />
          <SwitcherSheet side={layout === "phone" ? "bottom" : "left"} />
        </>
      )}
      <Dialogs />
    </div>
  );
}

function Sidebar() {
  const width = useAppState((state) => state.ui.switcherWidth);
  return (
    <aside aria-label="Sidebar" className="flex min-h-0 shrink-0">
      <div style={{ width }} className="flex min-h-0 flex-col bg-sunken">
        <Switcher brand />
      </div>
      <Splitter
        label="Width of the task list"
        panel="before"
        width={width}
        min={SWITCHER_MIN_PX}
        max={SWITCHER_MAX_PX}
        onResize={(switcherWidth) => setUi({ switcherWidth })}
      />
    </aside>
  );
}

function SwitcherSheet({ side }: { side: "left" | "bottom" }) {
  const open = useAppState((state) => state.ui.switcherOpen);
  return (
    <Sheet title="Tasks" side={side} open={open} onOpenChange={(switcherOpen) => setUi({ switcherOpen })}>
      <Switcher brand={side === "left"} />
    </Sheet>
  );
}

function PlaceView({ place }: { place: Place }) {
  // A place that failed is left behind by going to another one.
  return (
    <ErrorBoundary key={place.kind === "task" ? place.taskId : place.kind}>
      <ViewOf place={place} />
    </ErrorBoundary>
  );
}

function ViewOf({ place }: { place: Place }) {
  if (place.kind === "task") return <TaskView place={place} />;
  if (place.kind === "settings") return <SettingsView place={place} />;
  return <HomeView />;
}

/** An address of a workspace makes that one current; the bare address, or a strange one, leads to the current one. */
function useWorkspaceInAddress(place: Place): void {
  const current = useAppState((state) => state.workspaces.current);
  const known = useAppState((state) => state.workspaces.byId[place.workspaceId ?? ""] !== undefined);
  useEffect(() => {
    if (place.workspaceId !== undefined && known) client.openWorkspace(place.workspaceId);
    else if (current) go({ kind: "home", workspaceId: current }, "replace");
  }, [place.workspaceId, current, known]);
}
