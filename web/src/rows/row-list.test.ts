import { describe, expect, test } from "vitest";
import { aSummary, aTask, EARLY, LATER, LATEST } from "~/testing/builders";
import type { Task } from "~/wire/generated/Task";
import type { TaskStatusSummary } from "~/wire/generated/TaskStatusSummary";
import { freezeList, type ListGroup, type ListInput, listItems, needsYouIds, rowList } from "./row-list";

const summaries: Record<string, TaskStatusSummary> = {
  asks: aSummary({ pending_action: "permission", last_activity_at: EARLY }),
  fails: aSummary({
    active_error: { stamp: "s", occurred_at: EARLY, preview: "boom" },
    last_activity_at: LATEST,
  }),
  works: aSummary({ foreground_activity: "generating", last_activity_at: LATER }),
};

const api = { id: "r1", workspace_id: "w1", revision: 1, name: "api", path: "/code/api", created_at: EARLY };

function input(part: Partial<ListInput> = {}): ListInput {
  const tasks: Task[] = [
    aTask({ id: "asks", title: "Rotate keys", repositories: [{ id: "x", repository_id: "r1" }] }),
    aTask({ id: "works", title: "Split billing", step_id: "step2" }),
    aTask({ id: "fails", title: "Upgrade database" }),
    aTask({ id: "old", title: "Old thing", archived_at: LATER }),
  ];
  return {
    tasks,
    summaryOf: (id) => summaries[id],
    isLastStep: () => false,
    repositories: { r1: api },
    workflows: [
      {
        id: "wf1",
        workspace_id: "w1",
        revision: 1,
        name: "Default",
        steps: ["step1", "step2"].map((id, position) => ({ id, name: id, position })),
      },
    ],
    view: "attention",
    filter: "",
    archived: false,
    ...part,
  };
}

const shape = (groups: ListGroup[]) => groups.map(({ key, ids }) => [key, ...ids].join(" "));

describe("rowList", () => {
  test("groups by attention, newest activity first, without empty groups", () => {
    expect(shape(rowList(input()))).toEqual(["needs_you fails asks", "working works"]);
  });

  test("groups by repository, those without one last", () => {
    expect(shape(rowList(input({ view: "repository" })))).toEqual(["r1 asks", "none fails works"]);
  });

  test("groups by step in the board's order", () => {
    expect(shape(rowList(input({ view: "step" })))).toEqual(["step1 fails asks", "step2 works"]);
  });

  test("C06: only milestones move a row; Git, pull requests, looks and repairs do not", () => {
    const at = (time: number) => new Date(time).toISOString().replace("Z", "000Z");
    const rows = [1000, 1001, 1002, 1003, 1004].map((time, index) => ({
      task: aTask({ id: `t${index + 1}`, title: "Same" }),
      summary: aSummary({ last_activity_at: at(time) }),
    }));
    const change = (id: number, part: Partial<TaskStatusSummary>, updated: number) => {
      const row = rows[id - 1];
      if (row) row.summary = { ...row.summary, ...part, revision: updated, updated_at: at(updated) };
    };
    const order = () =>
      shape(
        rowList(
          input({
            view: "step",
            tasks: rows.map((row) => row.task),
            summaryOf: (id) => rows.find((row) => row.task.id === id)?.summary,
          }),
        ),
      );
    expect(order()).toEqual(["step1 t5 t4 t3 t2 t1"]);
    change(1, { last_activity_at: at(1990), foreground_activity: "generating" }, 1990);
    expect(order()).toEqual(["step1 t1 t5 t4 t3 t2"]);
    change(2, { git: { additions: 7, deletions: 0, changed_files: 1 } }, 2050);
    change(3, { active_subagent_count: 2, queued_prompt_count: 1 }, 2060);
    for (const id of [1, 2, 3, 4, 5]) change(id, {}, 2080);
    expect(order()).toEqual(["step1 t1 t5 t4 t3 t2"]);
    change(2, { last_activity_at: at(2090) }, 2090);
    expect(order()).toEqual(["step1 t2 t1 t5 t4 t3"]);
    change(1, { last_activity_at: at(2100) }, 2100);
    expect(order()).toEqual(["step1 t1 t2 t5 t4 t3"]);
  });

  test("filters by every word, over title, repository, state and group", () => {
    expect(shape(rowList(input({ filter: "api permission" })))).toEqual(["needs_you asks"]);
    expect(shape(rowList(input({ filter: "needs you upgrade" })))).toEqual(["needs_you fails"]);
    expect(rowList(input({ filter: "nothing like it" }))).toEqual([]);
  });

  test("shows the archive only when asked, and then only that", () => {
    expect(shape(rowList(input({ archived: true })))).toEqual(["archived old"]);
  });

  test("counts who needs a person whatever is filtered", () => {
    expect(needsYouIds(input({ filter: "zzz" }))).toEqual(["fails", "asks"]);
  });

  test("becomes headings and rows for the virtualiser", () => {
    expect(
      listItems(rowList(input())).map((item) => (item.kind === "row" ? item.id : item.group.label)),
    ).toEqual(["Needs you", "fails", "asks", "Working", "works"]);
  });
});

describe("freezeList keeps rows under the pointer", () => {
  const group = (key: string, ...ids: string[]): ListGroup => ({ key, label: key, urgent: false, ids });

  test("a row that changed its group stays where it is", () => {
    const shown = [group("a", "1", "2"), group("b", "3")];
    const next = [group("a", "2"), group("b", "1", "3")];
    expect(shape(freezeList(shown, next))).toEqual(["a 1 2", "b 3"]);
  });

  test("gone rows go, new ones come at the end of their group", () => {
    const shown = [group("a", "1", "2"), group("b", "3")];
    const next = [group("a", "9", "1"), group("c", "7")];
    expect(shape(freezeList(shown, next))).toEqual(["a 1 9", "c 7"]);
  });
});
