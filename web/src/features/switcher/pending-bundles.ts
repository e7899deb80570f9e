/** The requests of `task.pending` as a person answers them: a permission alone, questions by their bundle. */
import type { PendingRequest } from "~/wire/generated/PendingRequest";

export interface Bundle {
  first: PendingRequest;
  /** Questions that are answered together; 1 for a permission. */
  count: number;
}

export function bundlesOf(requests: readonly PendingRequest[]): Bundle[] {
  const bundles = new Map<string, PendingRequest[]>();
  for (const request of requests) {
    const held = bundles.get(request.pending_id);
    if (held) held.push(request);
    else bundles.set(request.pending_id, [request]);
  }
  return [...bundles.values()].flatMap((members) => {
    const [first] = members.toSorted((a, b) => (a.clarification?.index ?? 0) - (b.clarification?.index ?? 0));
    if (!first) return [];
    return [{ first, count: Math.max(members.length, first.clarification?.count ?? 1) }];
  });
}

/** Whether one tap answers all of it: one question, one choice. */
export function answerableHere({ first, count }: Bundle): boolean {
  const question = first.clarification?.question;
  return count === 1 && question !== undefined && question.options.length > 0 && !question.multi_select;
}
