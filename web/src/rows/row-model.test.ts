import { describe, expect, test } from "vitest";
import { aSummary, aTask, EARLY, LATER } from "~/testing/builders";
import type { Task } from "~/wire/generated/Task";
import type { TaskStatusSummary } from "~/wire/generated/TaskStatusSummary";
import { type RowModel, rowModel } from "./row-model";

const NOW_MS = Date.parse("2026-01-01T00:10:00Z");

function row(task: Partial<Task>, summary?: Partial<TaskStatusSummary>): RowModel {
  return rowModel(aTask(task), summary && aSummary(summary), {
    nowMs: NOW_MS,
    onLastStep: false,
    repositoryName: (id) => ({ r1: "api", r2: "web" })[id],
  });
}

const error = { stamp: "s", occurred_at: LATER, preview: "boom", category: "base_branch_missing" };

describe("WEB-01 a row is drawn from its task and summary alone", () => {
  test("without a summary the coarse state speaks and decorations are unknown, not zero", () => {
    const shown = row({ state: "IN_PROGRESS" });
    expect(shown.reason).toBe("In progress");
    expect(shown.git).toBeUndefined();
    expect(shown.pullRequest).toBeUndefined();
    expect(shown.queued).toBe(0);
  });

  test("a measured zero stays a zero", () => {
    const git = { additions: 0, deletions: 0, changed_files: 0 };
    expect(row({}, { git }).git).toEqual(git);
  });

  test("names its repositories and leaves out those it does not know", () => {
    const repositories = ["r1", "r2", "gone"].map((id) => ({ id: `t${id}`, repository_id: id }));
    expect(row({ repositories }).repositories).toEqual(["api", "web"]);
  });
});

describe("the reason and since when", () => {
  test("a request outranks an error in words; the error mark stays", () => {
    const shown = row({}, { pending_action: "permission", pending_since: EARLY, active_error: error });
    expect([shown.reason, shown.reasonTone, shown.age]).toEqual(["Permission", "ask", "10 min"]);
    expect(shown.error?.preview).toBe("boom");
  });

  test("an error is named by its category and keeps the icon of the state", () => {
    const shown = row({}, { active_error: error });
    expect([shown.reason, shown.reasonTone, shown.tone, shown.group]).toEqual([
      "Base branch missing",
      "error",
      "idle",
      "needs_you",
    ]);
    expect(shown.age).toBe("5 min");
  });

  test("a category of a later version is an error all the same", () => {
    expect(row({}, { active_error: { ...error, category: "from_the_future" } }).reason).toBe("Error");
  });

  test("else the last activity counts", () => {
    expect(row({}, { last_activity_at: LATER }).age).toBe("5 min");
  });
});
