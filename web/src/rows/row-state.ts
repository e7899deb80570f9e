/**
 * What a row shows first: one state of fourteen, and the attention group it is listed in.
 *
 * The server has the same rule in Rust; both are tested against `crates/model/cases/row_states.json`, so desktop,
 * phone and notifications cannot drift apart (PEN-01, WEB-05).
 */
import type { AttentionGroup } from "~/wire/generated/AttentionGroup";
import type { RowState } from "~/wire/generated/RowState";
import type { SummaryPayload } from "~/wire/generated/SummaryPayload";
import type { TaskState } from "~/wire/generated/TaskState";

/** What the rule reads. Without a summary only the coarse facts of the task speak (WEB-01). */
export interface RowFacts {
  state: TaskState;
  onLastStep: boolean;
  interrupted: boolean;
  summary: SummaryPayload | undefined;
}

type Bucket = "backlog" | "in_progress" | "review";

function bucketOf(facts: RowFacts): Bucket {
  switch (facts.summary?.primary_session?.state) {
    case "RUNNING":
      return "in_progress";
    case "WAITING_FOR_INPUT":
    case "IDLE":
    case "COMPLETED":
    case "FAILED":
    case "CANCELLED":
      return "review";
    default:
  }
  if (facts.state === "REVIEW" || facts.state === "COMPLETED") return "review";
  if (facts.state === "IN_PROGRESS" || facts.state === "SCHEDULING") return "in_progress";
  return "backlog";
}

/** The row's state: the first rule that applies. */
export function rowState(facts: RowFacts): RowState {
  const { state, summary } = facts;
  if (summary?.pending_action) return summary.pending_action;
  if (summary?.foreground_activity) return summary.foreground_activity;
  if (state === "WAITING_FOR_INPUT") return "waiting_for_input";
  const bucket = bucketOf(facts);
  const starting = summary?.primary_session?.state === "STARTING" && bucket !== "review";
  if (state === "SCHEDULING" || starting) return "preparing";
  if (bucket === "in_progress") return "in_progress";
  if (state === "FAILED") return "failed";
  if (state === "CANCELLED") return "cancelled";
  if (state === "BLOCKED") return "blocked";
  if (facts.interrupted && state !== "COMPLETED") return "interrupted";
  if (bucket === "review" && (facts.onLastStep || state === "COMPLETED")) return "complete";
  if (bucket === "review" && state !== "TODO" && state !== "CREATED") return "turn_finished";
  return "backlog";
}

const GROUP_OF_STATE: Record<RowState, AttentionGroup> = {
  permission: "needs_you",
  clarification: "needs_you",
  generating: "working",
  background: "working",
  preparing: "working",
  in_progress: "working",
  interrupted: "to_review",
  turn_finished: "to_review",
  waiting_for_input: "waiting",
  blocked: "waiting",
  backlog: "waiting",
  failed: "done",
  cancelled: "done",
  complete: "done",
};

/** The group of the row. An active error needs a person whatever the state (ERR-01). */
export function attentionGroup(facts: RowFacts): AttentionGroup {
  if (facts.summary?.active_error) return "needs_you";
  return GROUP_OF_STATE[rowState(facts)];
}
