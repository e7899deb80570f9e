import { expect, test } from "vitest";
import { aMessage } from "~/testing/builders";
import type { PermissionOption } from "~/wire/generated/PermissionOption";
import { editLines, editTotals } from "./edit-lines";
import { isOpenRequest, permissionOf, planOf, toolCallOf } from "./message-metadata";
import { allowOnce, optionsByKind } from "./option-order";

test("metadata of another shape than the type promises is none", () => {
  for (const metadata of [
    null,
    [],
    "x",
    1,
    {},
    { tool_call: {}, options: "no" },
    { entries: {} },
    { title: 1 },
  ]) {
    const message = aMessage({ metadata });
    expect([toolCallOf(message), planOf(message), permissionOf(message)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  }
});

test("a request without a status, or with an unknown one, waits", () => {
  expect(isOpenRequest(aMessage({ type: "permission_request" }))).toBe(true);
  expect(isOpenRequest(aMessage({ type: "permission_request", status: "pending" }))).toBe(true);
  expect(isOpenRequest(aMessage({ type: "permission_request", status: "expired" }))).toBe(false);
  expect(isOpenRequest(aMessage({ type: "tool_call", status: "pending" }))).toBe(false);
});

test("options are chosen by kind, whatever their order", () => {
  const kinds = ["reject_always", "allow_always", "reject_once", "allow_once"] as const;
  const options: PermissionOption[] = kinds.map((kind) => ({ id: kind, name: kind, kind }));
  expect(optionsByKind(options).map(({ id }) => id)).toEqual([
    "allow_once",
    "allow_always",
    "reject_once",
    "reject_always",
  ]);
  expect(allowOnce(options)?.id).toBe("allow_once");
  expect(allowOnce([])).toBeUndefined();
});

test("an edit shows only the lines that differ", () => {
  expect(editLines({ path: "a", old_text: "1\n2\n3", new_text: "1\nx\ny\n3" })).toEqual({
    removed: ["2"],
    added: ["x", "y"],
  });
  expect(editTotals([{ path: "a", new_text: "1\n2\n" }])).toEqual({ additions: 2, deletions: 0 });
  expect(editLines({ path: "a", old_text: "same", new_text: "same" })).toEqual({ removed: [], added: [] });
});
