/** What the palette offers beside tasks. */

import { store } from "~/app/runtime";
import { openDialog, setTheme, setUi, setView } from "~/app/ui-actions";
import { currentNeedsYou } from "~/features/switcher/use-row-list";
import { type SettingsSection, taskPlace } from "~/places/place";
import { currentPlace, go } from "~/places/use-place";

export interface PaletteAction {
  id: string;
  name: string;
  keys?: string;
  run(): void;
}

/** Opens the next task that needs a person, after the one on screen; the first when there is none after it. */
export function goToNextThatNeedsYou(): void {
  const workspaceId = store.getState().workspaces.current;
  const ids = currentNeedsYou();
  if (!workspaceId || ids.length === 0) return;
  const place = currentPlace();
  const here = place.kind === "task" ? ids.indexOf(place.taskId) : -1;
  const next = ids[(here + 1) % ids.length];
  if (next) go(taskPlace(workspaceId, next));
}

function openSettings(section: SettingsSection): void {
  const workspaceId = store.getState().workspaces.current;
  if (workspaceId) go({ kind: "settings", workspaceId, section });
}

export const PALETTE_ACTIONS: readonly PaletteAction[] = [
  { id: "new", name: "New task", keys: "c", run: () => openDialog({ kind: "new_task" }) },
  { id: "next", name: "Next task that needs you", keys: "g n", run: goToNextThatNeedsYou },
  { id: "attention", name: "Group by attention", run: () => setView("attention") },
  { id: "repository", name: "Group by repository", run: () => setView("repository") },
  { id: "step", name: "Group by step", run: () => setView("step") },
  {
    id: "changes",
    name: "Show or hide changes",
    run: () => setUi({ changesOpen: !store.getState().ui.changesOpen }),
  },
  { id: "repositories", name: "Settings: repositories", run: () => openSettings("repositories") },
  { id: "agents", name: "Settings: agents", run: () => openSettings("agents") },
  { id: "appearance", name: "Settings: appearance", run: () => openSettings("appearance") },
  { id: "light", name: "Light theme", run: () => setTheme("light") },
  { id: "dark", name: "Dark theme", run: () => setTheme("dark") },
  { id: "system", name: "Theme of the system", run: () => setTheme("system") },
  { id: "keys", name: "Keyboard shortcuts", keys: "?", run: () => openDialog({ kind: "keys" }) },
];
