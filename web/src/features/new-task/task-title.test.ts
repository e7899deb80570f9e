import { expect, test } from "vitest";
import { titleFrom } from "./task-title";

test("a title is the first line, cut at a word", () => {
  expect(titleFrom("  Fix the login\n\nIt fails.")).toBe("Fix the login");
  expect(titleFrom("")).toBe("");
  const long = titleFrom("word ".repeat(40));
  expect(long.length).toBeLessThanOrEqual(81);
  expect(long.endsWith("word…")).toBe(true);
});
