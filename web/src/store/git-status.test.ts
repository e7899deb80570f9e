import { produce } from "immer";
import { describe, expect, test } from "vitest";
import { EARLY, LATER, LATEST } from "~/testing/builders";
import type { GitEvent } from "~/wire/generated/GitEvent";
import type { GitStatus } from "~/wire/generated/GitStatus";
import { type GitStatusState, initialGitStatus, receiveGitStatus, receiveMeasureFailure } from "./git-status";

const status = (part: Partial<GitStatus> = {}): GitStatus => ({
  timestamp: EARLY,
  base_resolvable: true,
  additions: 1,
  deletions: 0,
  changed_files: 1,
  ...part,
});

const event = (part: Partial<GitStatus> = {}, environment = "e1", session = "s1"): GitEvent => ({
  type: "status_update",
  session_id: session,
  task_id: "t1",
  task_environment_id: environment,
  status: status(part),
});

const files = [{ path: "a.rs", kind: "modified" as const, additions: 1, deletions: 0 }];
const apply = (state: GitStatusState, ...events: GitEvent[]) =>
  produce(state, (draft) => {
    for (const next of events) receiveGitStatus(draft, next);
  });

test("a repository may be called like something that every object inherits", () => {
  const state = apply(initialGitStatus, event({ repository_name: "constructor" }, "toString"));
  const [environment] = Object.entries(state.byEnvironmentRepo);
  expect([environment?.[0], Object.keys(environment?.[1] ?? {})]).toEqual(["toString", ["constructor"]]);
});

describe("ENV-10 Git status belongs to environment and repository", () => {
  test("two sessions of one environment write one entry; a repository has its own", () => {
    const state = apply(
      initialGitStatus,
      event({}, "e1", "s1"),
      event({ timestamp: LATER, additions: 5 }, "e1", "s2"),
      event({ repository_name: "web", additions: 7 }),
    );
    expect(Object.keys(state.byEnvironmentRepo)).toEqual(["e1"]);
    expect(state.byEnvironmentRepo.e1?.[""]?.status?.additions).toBe(5);
    expect(state.byEnvironmentRepo.e1?.web?.status?.additions).toBe(7);
  });

  test("a payload without an environment is ignored", () => {
    produce(initialGitStatus, (draft) => {
      expect(receiveGitStatus(draft, event({}, ""))).toBe("no_environment");
    });
  });

  test("an older observation is rejected", () => {
    const state = apply(initialGitStatus, event({ timestamp: LATER, additions: 5 }), event({ additions: 1 }));
    expect(state.byEnvironmentRepo.e1?.[""]?.status?.additions).toBe(5);
  });

  test("an equal one replaces only if it has files or none are held", () => {
    const detailed = apply(initialGitStatus, event({ files }), event({ additions: 9 }));
    expect(detailed.byEnvironmentRepo.e1?.[""]?.status?.files).toEqual(files);
    const filled = apply(initialGitStatus, event(), event({ files }));
    expect(filled.byEnvironmentRepo.e1?.[""]?.status?.files).toEqual(files);
  });

  test("ENV-12 a newer sparse one takes stale file details away and keeps totals", () => {
    const state = apply(initialGitStatus, event({ files }), event({ timestamp: LATER, additions: 3 }));
    expect(state.byEnvironmentRepo.e1?.[""]?.status).toMatchObject({ additions: 3 });
    expect(state.byEnvironmentRepo.e1?.[""]?.status?.files).toBeUndefined();
  });
});

describe("GIT-04 a failed attempt changes no value", () => {
  const fail = (state: GitStatusState, at: string) =>
    produce(state, (draft) =>
      receiveMeasureFailure(draft, { task_environment_id: "e1", at, reason_code: "timeout" }),
    );

  test("it is marked beside what was measured, until a newer look succeeds", () => {
    const failed = fail(apply(initialGitStatus, event()), LATER);
    expect(failed.byEnvironmentRepo.e1?.[""]).toMatchObject({
      status: { additions: 1 },
      failure: { at: LATER },
    });
    const repaired = apply(failed, event({ timestamp: LATEST }));
    expect(repaired.byEnvironmentRepo.e1?.[""]?.failure).toBeUndefined();
  });

  test("an older failure says nothing about a newer look", () => {
    const state = fail(apply(initialGitStatus, event({ timestamp: LATER })), EARLY);
    expect(state.byEnvironmentRepo.e1?.[""]?.failure).toBeUndefined();
  });
});
