import { beforeEach, describe, expect, test } from "vitest";
import { aSummary, aTask, LATER } from "~/testing/builders";
import { type AppStore, change, createAppStore } from "./store";
import {
  beginList,
  finishList,
  forgetTaskRevisions,
  receiveSummary,
  receiveTask,
  receiveTaskPage,
  removeTask,
  setLastSteps,
  summaryOf,
  type TasksState,
  taskOf,
} from "./tasks";

let store: AppStore;
const tasks = () => store.getState().tasks;
const run = (recipe: (tasks: TasksState) => void) => change(store, (draft) => recipe(draft.tasks));

beforeEach(() => {
  store = createAppStore();
});

describe("SUM-07 a summary that is not newer is ignored", () => {
  test("in a notification", () => {
    run((state) =>
      receiveTask(state, aTask({ status_summary: aSummary({ revision: 5, queued_prompt_count: 2 }) })),
    );
    run((state) => {
      expect(receiveSummary(state, "t1", aSummary({ revision: 5 }))).toBe(false);
      expect(receiveSummary(state, "t1", aSummary({ revision: 4 }))).toBe(false);
    });
    expect(summaryOf(tasks(), "t1")?.queued_prompt_count).toBe(2);
    run((state) => expect(receiveSummary(state, "t1", aSummary({ revision: 6 }))).toBe(true));
    expect(summaryOf(tasks(), "t1")?.queued_prompt_count).toBeUndefined();
  });

  test("in a task snapshot: task and summary are compared apart", () => {
    run((state) =>
      receiveTask(state, aTask({ revision: 3, title: "new", status_summary: aSummary({ revision: 1 }) })),
    );
    run((state) =>
      receiveTask(state, aTask({ revision: 2, title: "old", status_summary: aSummary({ revision: 2 }) })),
    );
    expect(taskOf(tasks(), "t1")?.title).toBe("new");
    expect(summaryOf(tasks(), "t1")?.revision).toBe(2);
  });

  test("a new run of the server numbers anew", () => {
    run((state) => receiveTask(state, aTask({ revision: 9, status_summary: aSummary({ revision: 900 }) })));
    run(forgetTaskRevisions);
    run((state) =>
      receiveTask(state, aTask({ revision: 1, title: "again", status_summary: aSummary({ revision: 7 }) })),
    );
    expect(taskOf(tasks(), "t1")?.title).toBe("again");
    expect(summaryOf(tasks(), "t1")?.revision).toBe(7);
  });
});

describe("WEB-07 a slow list reverts and revives nothing", () => {
  test("a row changed while the list was in flight keeps the change", () => {
    run(beginList);
    run((state) => receiveTask(state, aTask({ revision: 8, title: "newer" })));
    run((state) => receiveTaskPage(state, [aTask({ revision: 7, title: "older" })]));
    run((state) => finishList(state, "w1", new Set(["t1"])));
    expect(taskOf(tasks(), "t1")?.title).toBe("newer");
  });

  test("a row deleted while the list was in flight stays deleted, and its summary too", () => {
    run((state) => receiveTask(state, aTask()));
    run(beginList);
    run((state) => removeTask(state, "t1"));
    run((state) => receiveTaskPage(state, [aTask({ status_summary: aSummary() })]));
    run((state) => finishList(state, "w1", new Set(["t1"])));
    expect(taskOf(tasks(), "t1")).toBeUndefined();
    run((state) => expect(receiveSummary(state, "t1", aSummary({ revision: 99 }))).toBe(false));
  });

  test("a row the list does not name goes; one made meanwhile and archived ones stay", () => {
    run((state) => receiveTask(state, aTask({ id: "gone" })));
    run((state) => receiveTask(state, aTask({ id: "archived", archived_at: LATER })));
    run(beginList);
    run((state) => receiveTask(state, aTask({ id: "made" })));
    run((state) => finishList(state, "w1", new Set()));
    expect(["gone", "archived", "made"].map((id) => taskOf(tasks(), id)?.id)).toEqual([
      undefined,
      "archived",
      "made",
    ]);
  });

  test("tombstones older than the list are let go with it", () => {
    run((state) => removeTask(state, "t1"));
    run(beginList);
    run((state) => finishList(state, "w1", new Set()));
    expect(tasks().tombstones).toEqual({});
  });
});

describe("the order is recomputed only when a place may have changed", () => {
  const stamp = () => tasks().orderStamp;

  test("totals do not move a row, activity and group do", () => {
    run((state) => receiveTask(state, aTask({ status_summary: aSummary({ revision: 1 }) })));
    const before = stamp();
    const git = { additions: 1, deletions: 1, changed_files: 1 };
    run((state) => receiveSummary(state, "t1", aSummary({ revision: 2, git })));
    expect(stamp()).toBe(before);
    run((state) => receiveSummary(state, "t1", aSummary({ revision: 3, git, last_activity_at: LATER })));
    expect(stamp()).toBe(before + 1);
    run((state) =>
      receiveSummary(
        state,
        "t1",
        aSummary({ revision: 4, last_activity_at: LATER, pending_action: "permission" }),
      ),
    );
    expect(stamp()).toBe(before + 2);
  });

  test("a changed board does", () => {
    const before = stamp();
    run((state) => setLastSteps(state, ["step1"]));
    expect(stamp()).toBe(before + 1);
  });
});
