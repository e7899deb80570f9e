import { expect, test } from "vitest";
import { aMessage } from "~/testing/builders";
import { moved, noWishes, queuedPrompts } from "./queue";

const rows = Object.fromEntries(["a", "b", "c"].map((id) => [id, aMessage({ id, content: `text ${id}` })]));
const shown = (queue: string[], wishes = noWishes()) =>
  queuedPrompts(queue, rows, wishes).map(({ message, text }) => `${message.id}: ${text}`);

test("without wishes the queue is what the server says", () => {
  expect(shown(["a", "b"])).toEqual(["a: text a", "b: text b"]);
});

test("a wish shows at once, and its end shows what the server says", () => {
  const wishes = { order: ["c", "a", "b"], texts: { a: "new" }, gone: { b: true as const } };
  expect(shown(["a", "b", "c"], wishes)).toEqual(["c: text c", "a: new"]);
  expect(shown(["a", "b", "c"])).toEqual(["a: text a", "b: text b", "c: text c"]);
});

test("a prompt that left meanwhile does not come back by a wish, and a new one is not hidden by it", () => {
  expect(shown(["b", "c"], { ...noWishes(), order: ["b", "a"] })).toEqual(["b: text b", "c: text c"]);
});

test("one is moved, and the others keep their order", () => {
  expect(moved(["a", "b", "c"], "c", 0)).toEqual(["c", "a", "b"]);
  expect(moved(["a", "b", "c"], "a", 1)).toEqual(["b", "a", "c"]);
  expect(moved(["a", "b", "c"], "a", 9)).toEqual(["b", "c", "a"]);
  expect(moved(["a", "b", "c"], "b", -1)).toEqual(["b", "a", "c"]);
  expect(moved(["a", "b"], "x", 0)).toEqual(["a", "b"]);
});
