/** How an agent's questions stand: who waits for the answer, and whether there can still be one. */
import type { Message } from "~/wire/generated/Message";
import type { PendingAction } from "~/wire/generated/PendingAction";
import type { SessionState } from "~/wire/generated/SessionState";
import { isOpenRequest } from "./message-metadata";
import type { QuestionRow } from "./question-answers";

export type Standing =
  /** The agent waits for the answer. */
  | "waiting"
  /** It went on; the answer will be sent as a message. */
  | "detached"
  /** Newer work has begun: there is nothing to answer any more. */
  | "superseded"
  /** Answered, declined, withdrawn or expired. */
  | "settled";

/** What came after the questions: `prompt` a newer message of a person, `turn` something else of another turn. */
export type Overtaken = "no" | "prompt" | "turn";

/** After so long the server lets the agent go on without the answer. */
export const QUESTION_WAITS_MS = 2 * 3_600_000;

interface SessionFacts {
  state: SessionState;
  pending_action?: PendingAction;
}

export function standingOf(
  rows: readonly QuestionRow[],
  overtaken: Overtaken,
  session: SessionFacts,
  now: number,
): Standing {
  const open = rows.filter(({ message }) => isOpenRequest(message));
  const [first] = open;
  if (!first) return "settled";
  // A resumed agent begins a turn that ends no question: only the session knows, then, that nothing waits any more.
  if (overtaken === "prompt" || (overtaken === "turn" && session.pending_action === undefined)) {
    return "superseded";
  }
  const late = now - Date.parse(first.message.created_at) > QUESTION_WAITS_MS;
  return session.state === "RUNNING" && !late ? "waiting" : "detached";
}

/** What the rows after a request say about it. */
export function overtakenBy(turnId: string | undefined, later: Iterable<Message>): Overtaken {
  let found: Overtaken = "no";
  for (const row of later) {
    if (row.turn_id === undefined || row.turn_id === turnId) continue;
    if (row.author === "user") return "prompt";
    found = "turn";
  }
  return found;
}
