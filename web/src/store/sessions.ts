/**
 * Sessions of the workspace and what their agents report: models, modes, options, commands, usage, and which of their
 * questions they wait for.
 *
 * Invariant: `pending_action` follows its own revision, because it is also told by `session.pending_changed`.
 */
import type { AgentChoice } from "~/wire/generated/AgentChoice";
import type { AgentCommandInfo } from "~/wire/generated/AgentCommandInfo";
import type { AgentOption } from "~/wire/generated/AgentOption";
import type { AgentUsage } from "~/wire/generated/AgentUsage";
import type { PendingChanged } from "~/wire/generated/PendingChanged";
import type { Session } from "~/wire/generated/Session";
import { emptyRecord } from "./records";

export interface AgentReport {
  models: AgentChoice[];
  currentModel: string | undefined;
  modes: AgentChoice[];
  currentMode: string | undefined;
  options: AgentOption[];
  commands: AgentCommandInfo[];
  usage: AgentUsage | undefined;
  /** Bundles of questions whose answers the agent waits for; unknown until the server has said so. */
  awaited: string[] | undefined;
}

export interface SessionsState {
  byId: Record<string, Session>;
  /** Tasks whose sessions were listed since the connection stands. */
  listed: Record<string, true>;
  reports: Record<string, AgentReport>;
  tombstones: Record<string, true>;
}

export const initialSessions: SessionsState = {
  byId: emptyRecord(),
  listed: emptyRecord(),
  reports: emptyRecord(),
  tombstones: emptyRecord(),
};

const emptyReport: AgentReport = {
  models: [],
  currentModel: undefined,
  modes: [],
  currentMode: undefined,
  options: [],
  commands: [],
  usage: undefined,
  awaited: undefined,
};

export function receiveSession(state: SessionsState, session: Session): void {
  if (state.tombstones[session.id]) return;
  const held = state.byId[session.id];
  if (held && held.revision >= session.revision) return;
  const pendingIsOlder = held && held.pending_action_revision > session.pending_action_revision;
  state.byId[session.id] = pendingIsOlder ? withPendingOf(session, held) : session;
}

function withPendingOf(session: Session, held: Session): Session {
  const { pending_action: _, ...rest } = session;
  const pending = held.pending_action ? { pending_action: held.pending_action } : {};
  return { ...rest, ...pending, pending_action_revision: held.pending_action_revision };
}

/** The sessions of one task, all of them: what the list does not name is gone. */
export function receiveSessionList(state: SessionsState, taskId: string, sessions: Session[]): void {
  const named = new Set(sessions.map((session) => session.id));
  for (const session of Object.values(state.byId)) {
    if (session.task_id === taskId && !named.has(session.id)) delete state.byId[session.id];
  }
  for (const session of sessions) receiveSession(state, session);
  state.listed[taskId] = true;
}

export function removeSession(state: SessionsState, sessionId: string): void {
  state.tombstones[sessionId] = true;
  delete state.byId[sessionId];
  delete state.reports[sessionId];
}

export function receivePendingChange(state: SessionsState, change: PendingChanged): void {
  const held = state.byId[change.session_id];
  if (!held || held.pending_action_revision >= change.pending_action_revision) return;
  held.pending_action_revision = change.pending_action_revision;
  if (change.pending_action) held.pending_action = change.pending_action;
  else delete held.pending_action;
}

/** What an agent says about itself, field by field. */
export function receiveReport(state: SessionsState, sessionId: string, part: Partial<AgentReport>): void {
  state.reports[sessionId] = { ...(state.reports[sessionId] ?? emptyReport), ...part };
}

export function forgetSessionRevisions(state: SessionsState): void {
  for (const session of Object.values(state.byId)) {
    session.revision = -1;
    session.pending_action_revision = -1;
  }
  state.listed = emptyRecord();
}

/** The sessions of a task in the order they were made. */
export function sessionsOfTask(state: SessionsState, taskId: string): Session[] {
  return Object.values(state.byId)
    .filter((session) => session.task_id === taskId)
    .sort((a, b) => a.started_at.localeCompare(b.started_at) || a.id.localeCompare(b.id));
}

/** Whether a session takes no message any more. */
export function isOver({ state }: Session): boolean {
  return state === "COMPLETED" || state === "FAILED" || state === "CANCELLED";
}
