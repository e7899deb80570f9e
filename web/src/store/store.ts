/**
 * One vanilla store, slices by domain. A slice is a type, its initial value and plain functions on a draft of it;
 * `change` runs such functions in one Immer transaction, so subscribers hear of them once.
 *
 * Only `socket/` changes what came from the server; `ui` belongs to the features.
 */
import { produce, setAutoFreeze } from "immer";
import { createStore, type StoreApi } from "zustand/vanilla";
import { type ConnectionState, initialConnection } from "./connection";
import { type GitStatusState, initialGitStatus } from "./git-status";
import { initialSessions, type SessionsState } from "./sessions";
import { initialSignIn, type SignInState } from "./sign-in";
import { initialTasks, type TasksState } from "./tasks";
import { initialTranscripts, type TranscriptsState } from "./transcripts";
import { initialUi, type UiState } from "./ui";
import { initialUploads, type UploadsState } from "./uploads";
import { initialWorkspaces, type WorkspacesState } from "./workspaces";

// Freezing walks every received payload deeply, on every frame of a stream; only recipes write here.
setAutoFreeze(false);

export interface AppState {
  signIn: SignInState;
  connection: ConnectionState;
  workspaces: WorkspacesState;
  tasks: TasksState;
  sessions: SessionsState;
  transcripts: TranscriptsState;
  gitStatus: GitStatusState;
  uploads: UploadsState;
  ui: UiState;
}

export type AppStore = StoreApi<AppState>;

export function createAppStore(ui: Partial<UiState> = {}): AppStore {
  return createStore<AppState>()(() => ({
    signIn: initialSignIn,
    connection: initialConnection,
    workspaces: initialWorkspaces,
    tasks: initialTasks,
    sessions: initialSessions,
    transcripts: initialTranscripts,
    gitStatus: initialGitStatus,
    uploads: initialUploads,
    ui: { ...initialUi, ...ui },
  }));
}

/** One transaction: all of `recipe`, one notification, none if nothing changed. What it returns is ignored. */
export function change(store: AppStore, recipe: (draft: AppState) => void): void {
  const next = produce(store.getState(), (draft) => {
    recipe(draft);
  });
  store.setState(next, true);
}
