/** Changes of what only this page knows: dialogs, panes, theme, the walked row. */
import { taskPlace } from "~/places/place";
import { go } from "~/places/use-place";
import { change } from "~/store/store";
import type { DialogState, SwitcherView, Theme, UiState } from "~/store/ui";
import type { Task } from "~/wire/generated/Task";
import { store } from "./runtime";

export function setUi(part: Partial<UiState>): void {
  change(store, (draft) => {
    Object.assign(draft.ui, part);
  });
}

export function openDialog(dialog: DialogState): void {
  setUi({ dialog, switcherOpen: false });
}

export function closeDialog(): void {
  setUi({ dialog: undefined });
}

export function setView(view: SwitcherView): void {
  setUi({ view, showArchived: false });
}

export function setTheme(theme: Theme): void {
  setUi({ theme });
}

/** Puts `j` and `k` on a row; `undefined` ends the walk and lets the list reorder. */
export function walkTo(taskId: string | undefined): void {
  setUi({ walked: taskId });
}

/** Opens the session that asks, at its card. */
export function showRequest(task: Task, sessionId: string, pendingId: string): void {
  setUi({ wantedRequest: pendingId, switcherOpen: false, walked: undefined });
  go(taskPlace(task.workspace_id, task.id, sessionId));
}
