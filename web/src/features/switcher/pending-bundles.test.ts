import { expect, test } from "vitest";
import { EARLY } from "~/testing/builders";
import type { PendingRequest } from "~/wire/generated/PendingRequest";
import { answerableHere, bundlesOf } from "./pending-bundles";

const option = (id: string) => ({ id, label: id });

function asked(
  index: number,
  count: number,
  part: { multi?: boolean; options?: string[] } = {},
): PendingRequest {
  return {
    session_id: "s1",
    message_id: `m${index}`,
    pending_id: `p${count}`,
    type: "clarification_request",
    title: "A question",
    detail: null,
    options: [],
    clarification: {
      index,
      count,
      question: {
        text: "Which?",
        options: (part.options ?? ["a", "b"]).map(option),
        multi_select: part.multi ?? false,
        free_text: true,
      },
    },
    since: EARLY,
  };
}

test("questions of one bundle are one thing to answer, the first of them first", () => {
  const bundles = bundlesOf([asked(1, 2), asked(0, 1), asked(0, 2)]);
  expect(bundles.map(({ first, count }) => [first.pending_id, first.message_id, count])).toEqual([
    ["p2", "m0", 2],
    ["p1", "m0", 1],
  ]);
});

test("only one question with one choice is answered by one tap", () => {
  const here = (requests: PendingRequest[]) => bundlesOf(requests).map(answerableHere);
  expect(here([asked(0, 1)])).toEqual([true]);
  expect(here([asked(0, 2), asked(1, 2)])).toEqual([false]);
  expect(here([asked(0, 1, { multi: true })])).toEqual([false]);
  expect(here([asked(0, 1, { options: [] })])).toEqual([false]);
});

test("a bundle of which the list holds only a part is not answered by one tap", () => {
  expect(bundlesOf([asked(0, 2)]).map(answerableHere)).toEqual([false]);
});
