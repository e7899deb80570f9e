/** What the person chose on this page: nothing here comes from or goes to the server. */

export type Theme = "system" | "light" | "dark";
export type SwitcherView = "attention" | "repository" | "step";

export type DialogState =
  | { kind: "new_task" }
  | { kind: "keys" }
  | { kind: "palette" }
  | { kind: "rename_task"; taskId: string }
  | { kind: "delete_task"; taskId: string; uncommitted: string | undefined }
  | { kind: "rename_session"; sessionId: string }
  | { kind: "delete_session"; sessionId: string }
  | { kind: "pick_base_branch"; taskId: string; stamp: string }
  | { kind: "merge"; taskId: string }
  | { kind: "sign_out" };

export interface Toast {
  id: number;
  tone: "info" | "success" | "error";
  title: string;
  detail: string | undefined;
  /** What can be done about it at once. */
  action?: ToastAction | undefined;
}

export interface ToastAction {
  label: string;
  run(): void;
}

export interface UiState {
  theme: Theme;
  view: SwitcherView;
  filter: string;
  showArchived: boolean;
  switcherOpen: boolean;
  switcherWidth: number;
  changesOpen: boolean;
  changesWidth: number;
  dialog: DialogState | undefined;
  toasts: Toast[];
  /** The row that `j` and `k` are on; while one is set the list does not reorder. */
  walked: string | undefined;
  /** The request whose card comes into view as soon as its conversation is there. */
  wantedRequest: string | undefined;
}

export const initialUi: UiState = {
  theme: "system",
  view: "attention",
  filter: "",
  showArchived: false,
  switcherOpen: false,
  switcherWidth: 336,
  changesOpen: true,
  changesWidth: 412,
  dialog: undefined,
  toasts: [],
  walked: undefined,
  wantedRequest: undefined,
};

/** Old notices make room: a person reads the newest. */
const TOASTS_SHOWN = 4;

let lastToast = 0;

export function addToast(state: UiState, toast: Omit<Toast, "id">): void {
  lastToast += 1;
  state.toasts = [...state.toasts, { ...toast, id: lastToast }].slice(-TOASTS_SHOWN);
}

export function removeToast(state: UiState, id: number): void {
  state.toasts = state.toasts.filter((toast) => toast.id !== id);
}
