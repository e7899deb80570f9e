/**
 * What each notification does to the store. Payloads are put into the frame's batch; rules about what is newer
 * live in the slices. Rows added or deleted and settled turns are barriers (WEB-03).
 */
import { receiveGitStatus, receiveMeasureFailure } from "~/store/git-status";
import { receivePendingChange, receiveReport, receiveSession, removeSession } from "~/store/sessions";
import type { AppState } from "~/store/store";
import { receiveSummary, receiveTask, removeTask, setLastSteps } from "~/store/tasks";
import { receiveMessage, removeMessage, resolveRequest } from "~/store/transcripts";
import { lastStepId, receiveRow } from "~/store/workspaces";
import type { NotificationAction, Notifications } from "~/wire/actions";
import type { TaskPayload } from "~/wire/generated/TaskPayload";
import type { FrameBatch } from "./frame-batch";

/** What a notification asks of the client beyond a change of the store. */
export interface HandlerRequests {
  onHello(hello: Notifications["hello"]): void;
  /** States of this session were skipped: list it once. */
  onResync(sessionId: string): void;
  onQueueChanged(sessionId: string): void;
  onSessionDeleted(sessionId: string): void;
  onTaskDeleted(taskId: string): void;
}

type Handler<Payload> = (payload: Payload, batch: FrameBatch, requests: HandlerRequests) => void;

const task: Handler<TaskPayload> = (payload, batch) =>
  batch.add((draft) => receiveTask(draft.tasks, payload.task));

const handlers: { [A in NotificationAction]: Handler<Notifications[A]> } = {
  hello: (payload, _batch, requests) => requests.onHello(payload),
  "task.created": task,
  "task.updated": task,
  "task.moved": task,
  "task.archived": task,
  "task.deleted": (payload, batch, requests) => {
    batch.barrier((draft) => removeTask(draft.tasks, payload.task_id));
    requests.onTaskDeleted(payload.task_id);
  },
  "task.status_summary.updated": (payload, batch) =>
    batch.add((draft) => {
      receiveSummary(draft.tasks, payload.task_id, payload.status_summary);
    }),
  "session.state_changed": (payload, batch) =>
    batch.add((draft) => receiveSession(draft.sessions, payload.session)),
  "session.deleted": (payload, batch, requests) => {
    batch.barrier((draft) => removeSession(draft.sessions, payload.session_id));
    requests.onSessionDeleted(payload.session_id);
  },
  "session.message.added": (payload, batch) =>
    batch.barrier((draft) => receiveMessage(draft.transcripts, payload.message)),
  "session.message.updated": (payload, batch) => batch.update(payload.message),
  "session.message.appended": (payload, batch) => batch.append(payload),
  "session.message.deleted": (payload, batch) =>
    batch.barrier((draft) => removeMessage(draft.transcripts, payload.session_id, payload.message_id)),
  "session.turn.started": (_payload, batch) => batch.flush(),
  "session.turn.completed": (_payload, batch) => batch.flush(),
  "session.pending_changed": (payload, batch) =>
    batch.barrier((draft) => {
      receivePendingChange(draft.sessions, payload);
      if (payload.resolved) resolveRequest(draft.transcripts, payload.session_id, payload.resolved);
    }),
  "session.git.event": (payload, batch) =>
    batch.add((draft) => {
      if (payload.type !== "status_update") return;
      const outcome = receiveGitStatus(draft.gitStatus, payload);
      console.debug("git status", {
        environment: payload.task_environment_id,
        repository: payload.status.repository_name ?? "",
        outcome,
      });
    }),
  "session.git.measure_failed": (payload, batch) =>
    batch.add((draft) => receiveMeasureFailure(draft.gitStatus, payload)),
  "session.models_updated": (payload, batch) =>
    batch.add((draft) =>
      receiveReport(draft.sessions, payload.session_id, {
        models: payload.models,
        currentModel: payload.current_model,
        options: payload.options,
      }),
    ),
  "session.mode_changed": (payload, batch) =>
    batch.add((draft) =>
      receiveReport(draft.sessions, payload.session_id, {
        modes: payload.modes,
        currentMode: payload.current_mode,
      }),
    ),
  "session.available_commands": (payload, batch) =>
    batch.add((draft) => receiveReport(draft.sessions, payload.session_id, { commands: payload.commands })),
  "session.usage_updated": (payload, batch) =>
    batch.add((draft) => receiveReport(draft.sessions, payload.session_id, { usage: payload.usage })),
  "session.questions_awaited": (payload, batch) =>
    batch.add((draft) => receiveReport(draft.sessions, payload.session_id, { awaited: payload.pending_ids })),
  "message.queue.status_changed": (payload, _batch, requests) => requests.onQueueChanged(payload.session_id),
  "session.resync": (payload, batch, requests) => {
    batch.flush();
    requests.onResync(payload.session_id);
  },
  "repository.updated": (payload, batch) =>
    batch.add((draft) => receiveRow(draft.workspaces.repositories, payload)),
  "repository.removed": (payload, batch) =>
    batch.add((draft) => {
      delete draft.workspaces.repositories[payload.repository_id];
    }),
  "workflow.updated": (payload, batch) =>
    batch.add((draft) => {
      receiveRow(draft.workspaces.workflows, payload);
      refreshLastSteps(draft);
    }),
  "agent_profile.updated": (payload, batch) =>
    batch.add((draft) => receiveRow(draft.workspaces.profiles, payload)),
  "agent_profile.removed": (payload, batch) =>
    batch.add((draft) => {
      delete draft.workspaces.profiles[payload.agent_profile_id];
    }),
};

/** Applies one notification. One that this version does not know is ignored: shapes may gain names. */
export function handleNotification(
  action: string,
  payload: unknown,
  batch: FrameBatch,
  requests: HandlerRequests,
): void {
  if (!Object.hasOwn(handlers, action)) return;
  // The frame's action names the type of its payload: that is the contract the generated types write down.
  const handler = handlers[action as NotificationAction] as Handler<unknown>;
  handler(payload, batch, requests);
}

/** Which steps mean done, for the rows. */
export function refreshLastSteps(draft: AppState): void {
  const steps = Object.values(draft.workspaces.workflows).map(lastStepId);
  setLastSteps(
    draft.tasks,
    steps.filter((id) => id !== undefined),
  );
}
