/** What a workspace's screens need beside tasks: boards, repositories, agents, and what this person may do. */
import type { AgentProfile } from "~/wire/generated/AgentProfile";
import type { Boot } from "~/wire/generated/Boot";
import type { KnownAgent } from "~/wire/generated/KnownAgent";
import type { Repository } from "~/wire/generated/Repository";
import type { Role } from "~/wire/generated/Role";
import type { User } from "~/wire/generated/User";
import type { Workflow } from "~/wire/generated/Workflow";
import type { Workspace } from "~/wire/generated/Workspace";
import { emptyRecord, recordOf } from "./records";

export interface WorkspacesState {
  user: User | undefined;
  /** The server's version, for the About page. */
  version: string;
  /** The run of the server that gave the revisions we hold. */
  serverGeneration: string;
  /** The workspace on screen. */
  current: string | undefined;
  order: string[];
  byId: Record<string, { workspace: Workspace; role: Role }>;
  workflows: Record<string, Workflow>;
  repositories: Record<string, Repository>;
  profiles: Record<string, AgentProfile>;
  knownAgents: KnownAgent[];
}

export const initialWorkspaces: WorkspacesState = {
  user: undefined,
  version: "",
  serverGeneration: "",
  current: undefined,
  order: [],
  byId: emptyRecord(),
  workflows: emptyRecord(),
  repositories: emptyRecord(),
  profiles: emptyRecord(),
  knownAgents: [],
};

/**
 * Replaces everything by what the server holds now. Tasks are applied by their own slice, and the run that answers is
 * the one already believed.
 */
export function receiveBoot(state: WorkspacesState, boot: Boot): void {
  state.user = boot.user;
  state.version = boot.version;
  state.knownAgents = boot.known_agents;
  state.order = boot.workspaces.map((entry) => entry.workspace.id);
  state.byId = recordOf(
    boot.workspaces.map(({ workspace, role }) => [workspace.id, { workspace, role }] as const),
  );
  state.workflows = byId(boot.workspaces.flatMap((entry) => entry.workflows));
  state.repositories = byId(boot.workspaces.flatMap((entry) => entry.repositories));
  state.profiles = byId(boot.workspaces.flatMap((entry) => entry.agent_profiles));
  if (state.current === undefined || !state.order.includes(state.current)) state.current = state.order[0];
}

function byId<T extends { id: string }>(rows: T[]): Record<string, T> {
  return recordOf(rows.map((row) => [row.id, row] as const));
}

/** Keeps the newer of the row held and the row received (WEB-07). */
export function receiveRow<T extends { id: string; revision: number }>(
  rows: Record<string, T>,
  row: T,
): void {
  const held = rows[row.id];
  if (held === undefined || held.revision < row.revision) rows[row.id] = row;
}

export function forgetRowRevisions(state: WorkspacesState): void {
  for (const rows of [state.workflows, state.repositories, state.profiles]) {
    for (const row of Object.values(rows)) row.revision = -1;
  }
}

/** The step that means done: the last of the task's board. */
export function lastStepId(workflow: Workflow | undefined): string | undefined {
  return workflow?.steps.at(-1)?.id;
}
