/** How an agent's questions stand: who waits for the answer, and whether there can still be one. */
import type { Message } from "~/wire/generated/Message";
import type { PendingAction } from "~/wire/generated/PendingAction";
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

interface SessionFacts {
  pending_action?: PendingAction;
}

/** `awaited`: whether the agent waits for the answer, as far as the server has said. */
export function standingOf(
  rows: readonly QuestionRow[],
  overtaken: Overtaken,
  session: SessionFacts,
  awaited: boolean | undefined,
): Standing {
  if (!rows.some(({ message }) => isOpenRequest(message))) return "settled";
  // A resumed agent begins a turn that ends no question: only the session knows, then, that nothing waits any more.
  if (overtaken === "prompt" || (overtaken === "turn" && session.pending_action === undefined)) {
    return "superseded";
  }
  return awaited === false ? "detached" : "waiting";
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
