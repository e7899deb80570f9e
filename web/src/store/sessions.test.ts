import { produce } from "immer";
import { describe, expect, test } from "vitest";
import { aSession } from "~/testing/builders";
import {
  initialSessions,
  receivePendingChange,
  receiveReport,
  receiveSession,
  receiveSessionList,
  removeSession,
  type SessionsState,
  sessionsOfTask,
} from "./sessions";

const run = (state: SessionsState, recipe: (draft: SessionsState) => void) => produce(state, recipe);
const held = run(initialSessions, (state) => receiveSession(state, aSession({ revision: 3 })));

describe("sessions", () => {
  test("WEB-07 an older one does not replace a newer one", () => {
    const state = run(held, (draft) => receiveSession(draft, aSession({ revision: 2, name: "old" })));
    expect(state.byId.s1?.name).toBe("Agent");
  });

  test("what is pending follows its own revision", () => {
    const asked = run(held, (draft) =>
      receivePendingChange(draft, {
        session_id: "s1",
        pending_action: "permission",
        pending_action_revision: 5,
      }),
    );
    const later = run(asked, (draft) =>
      receiveSession(draft, aSession({ revision: 9, pending_action_revision: 4 })),
    );
    expect(later.byId.s1).toMatchObject({
      revision: 9,
      pending_action: "permission",
      pending_action_revision: 5,
    });
    const answered = run(later, (draft) =>
      receivePendingChange(draft, { session_id: "s1", pending_action_revision: 6 }),
    );
    expect(answered.byId.s1?.pending_action).toBeUndefined();
  });

  test("a deleted one stays deleted; a list takes away what it does not name", () => {
    const gone = run(held, (draft) => {
      removeSession(draft, "s1");
      receiveSession(draft, aSession({ revision: 99 }));
    });
    expect(gone.byId).toEqual({});
    const listed = run(held, (draft) => receiveSessionList(draft, "t1", [aSession({ id: "s2" })]));
    expect(sessionsOfTask(listed, "t1").map(({ id }) => id)).toEqual(["s2"]);
  });

  test("WEB-06 a report is kept field by field", () => {
    const state = run(held, (draft) => {
      receiveReport(draft, "s1", { models: [{ id: "m", name: "M" }], currentModel: "m" });
      receiveReport(draft, "s1", { currentMode: "ask" });
    });
    expect(state.reports.s1).toMatchObject({ currentModel: "m", currentMode: "ask" });
  });
});
