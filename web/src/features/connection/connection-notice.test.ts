import { expect, test } from "vitest";
import { noticeLevel } from "./connection-notice";

test("a lost connection is quiet after 3 s and clear after 10 s", () => {
  expect(noticeLevel(undefined, 50_000)).toBe("none");
  expect([0, 2_999, 3_000, 9_999, 10_000].map((ms) => noticeLevel(1_000, 1_000 + ms))).toEqual([
    "none",
    "none",
    "quiet",
    "quiet",
    "clear",
  ]);
});
