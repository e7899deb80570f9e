/** The words and tones of rows. Every state has an icon, a tone *and* a name: nothing is told by colour alone. */
import type { AggregateState } from "~/wire/generated/AggregateState";
import type { AttentionGroup } from "~/wire/generated/AttentionGroup";
import type { RecoveryAction } from "~/wire/generated/RecoveryAction";
import type { RowState } from "~/wire/generated/RowState";

/** What a colour stands for; `app.css` gives each its colours for light and dark. */
export type Tone = "ask" | "question" | "error" | "work" | "background" | "review" | "done" | "idle";

export const STATE_NAME: Record<RowState, string> = {
  permission: "Permission",
  clarification: "Question",
  generating: "Working",
  background: "In background",
  waiting_for_input: "Waiting for input",
  preparing: "Starting",
  in_progress: "In progress",
  failed: "Failed",
  cancelled: "Cancelled",
  blocked: "Blocked",
  interrupted: "Interrupted",
  complete: "Done",
  turn_finished: "Turn finished",
  backlog: "Not started",
};

export const STATE_TONE: Record<RowState, Tone> = {
  permission: "ask",
  clarification: "question",
  generating: "work",
  background: "background",
  waiting_for_input: "idle",
  preparing: "idle",
  in_progress: "work",
  failed: "error",
  cancelled: "idle",
  blocked: "ask",
  interrupted: "ask",
  complete: "done",
  turn_finished: "review",
  backlog: "idle",
};

/** Groups in list order. */
export const GROUPS: readonly AttentionGroup[] = ["needs_you", "working", "to_review", "waiting", "done"];

export const GROUP_NAME: Record<AttentionGroup, string> = {
  needs_you: "Needs you",
  working: "Working",
  to_review: "To review",
  waiting: "Waiting",
  done: "Done",
};

const CATEGORY_NAME: Record<string, string> = {
  base_branch_missing: "Base branch missing",
  default_branch_unresolved: "No default branch",
  pr_already_closed: "Pull request closed",
  agent_unavailable: "Agent unavailable",
  workspace_invalid: "Worktree invalid",
  limit_reached: "Limit reached",
  generic_launch_failure: "Launch failed",
  agent_exited: "Agent exited",
  agent_protocol: "Protocol error",
  agent_auth: "Sign-in needed",
  workspace_missing: "Worktree missing",
  agent_refused: "Agent refused",
  usage_limit: "Usage limit",
  line_too_long: "Message too long",
};

/** The reason of an error in two or three words; a category this version does not know is an error all the same. */
export function categoryName(category: string | undefined): string {
  return (category === undefined ? undefined : CATEGORY_NAME[category]) ?? "Error";
}

export const RECOVERY_NAME: Record<RecoveryAction, string> = {
  retry_default: "Try again",
  pick_base_branch: "Choose base branch…",
  mark_review_done: "Mark as done",
};

export const PULL_REQUEST_NAME: Record<AggregateState, string> = {
  failure: "failing",
  blocked: "blocked",
  pending: "checks running",
  awaiting_review: "awaiting review",
  ready: "ready to merge",
  passing: "checks pass",
  draft: "draft",
  merged: "merged",
  closed: "closed",
  neutral: "open",
};

export const PULL_REQUEST_TONE: Record<AggregateState, Tone> = {
  failure: "error",
  blocked: "ask",
  pending: "question",
  awaiting_review: "work",
  ready: "review",
  passing: "review",
  draft: "idle",
  merged: "background",
  closed: "idle",
  neutral: "idle",
};
