/**
 * Git status, keyed by the environment and repository that own it, never by a session (ENV-10).
 *
 * Invariants: an older observation never replaces a newer one; an equal one only adds file details; a newer one
 * without details removes those held, because they describe another moment. A failed attempt changes no value.
 */
import type { GitEvent } from "~/wire/generated/GitEvent";
import type { GitMeasureFailed } from "~/wire/generated/GitMeasureFailed";
import type { GitStatus } from "~/wire/generated/GitStatus";
import type { MeasureFailure } from "~/wire/generated/MeasureFailure";
import { emptyRecord } from "./records";

export interface RepositoryStatus {
  status: GitStatus | undefined;
  /** The newest attempt failed; absent once a newer one succeeded. */
  failure: { at: string; reason: MeasureFailure } | undefined;
}

export interface GitStatusState {
  byEnvironmentRepo: Record<string, Record<string, RepositoryStatus>>;
}

export const initialGitStatus: GitStatusState = { byEnvironmentRepo: emptyRecord() };

/** The key of the root repository: absent, null and empty names are the same (ENV-02). */
export function repositoryKey(name: string | null | undefined): string {
  return name ?? "";
}

export type StatusOutcome = "applied" | "older" | "no_environment";

export function receiveGitStatus(state: GitStatusState, event: GitEvent): StatusOutcome {
  if (!event.task_environment_id) return "no_environment";
  const repositories = environmentOf(state, event.task_environment_id);
  const key = repositoryKey(event.status.repository_name);
  const held = repositories[key];
  if (held?.status && !replaces(held.status, event.status)) return "older";
  const failure = held?.failure && held.failure.at > event.status.timestamp ? held.failure : undefined;
  repositories[key] = { status: event.status, failure };
  return "applied";
}

function replaces(held: GitStatus, next: GitStatus): boolean {
  if (next.timestamp !== held.timestamp) return next.timestamp > held.timestamp;
  return next.files !== undefined || held.files === undefined;
}

export function receiveMeasureFailure(state: GitStatusState, failed: GitMeasureFailed): void {
  if (!failed.task_environment_id) return;
  const repositories = environmentOf(state, failed.task_environment_id);
  const key = repositoryKey(failed.repository_name);
  const held = repositories[key];
  const newest = held?.status?.timestamp ?? "";
  if (failed.at <= newest || (held?.failure && held.failure.at >= failed.at)) return;
  repositories[key] = { status: held?.status, failure: { at: failed.at, reason: failed.reason_code } };
}

function environmentOf(state: GitStatusState, id: string): Record<string, RepositoryStatus> {
  const held = state.byEnvironmentRepo[id] ?? emptyRecord();
  state.byEnvironmentRepo[id] = held;
  return state.byEnvironmentRepo[id] as Record<string, RepositoryStatus>;
}
