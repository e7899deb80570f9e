import { useMemo, useRef } from "react";
import { store } from "~/app/runtime";
import { useAppSelection, useAppState } from "~/app/use-app-state";
import { freezeList, type ListGroup, type ListInput, needsYouIds, rowList } from "~/rows/row-list";
import { valuesOf } from "~/store/sharded";
import type { AppState } from "~/store/store";
import { summaryOf } from "~/store/tasks";

function inputOf(state: AppState): ListInput {
  const { tasks, workspaces, ui } = state;
  return {
    tasks: valuesOf(tasks.byId).filter((task) => task.workspace_id === workspaces.current),
    summaryOf: (id) => summaryOf(tasks, id),
    isLastStep: (stepId) => tasks.lastSteps[stepId] === true,
    repositories: workspaces.repositories,
    workflows: Object.values(workspaces.workflows).filter((row) => row.workspace_id === workspaces.current),
    view: ui.view,
    filter: ui.filter,
    archived: ui.showArchived,
  };
}

/** The rows as they stand in the store, without waiting for a render: for keys. */
export function currentRowIds(): string[] {
  return rowList(inputOf(store.getState())).flatMap((group) => group.ids);
}

export function currentNeedsYou(): string[] {
  return needsYouIds(inputOf(store.getState()));
}

/** The groups to show. While `held` (pointed at or walked by keys) rows keep their places. */
export function useRowList(held: boolean): ListGroup[] {
  const reasons = useAppSelection(({ tasks, workspaces, ui }) => [
    tasks.orderStamp,
    workspaces.current,
    workspaces.repositories,
    workspaces.workflows,
    ui.view,
    ui.filter,
    ui.showArchived,
  ]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the stamp and the choices say when the order may differ.
  const next = useMemo(() => rowList(inputOf(store.getState())), [reasons]);
  // What the person chose to see: another choice gives up held places.
  const choice = useAppState(({ workspaces, ui }) =>
    JSON.stringify([workspaces.current, ui.view, ui.filter, ui.showArchived]),
  );
  const shown = useRef({ groups: next, choice });
  if (!held || shown.current.choice !== choice) shown.current = { groups: next, choice };
  else shown.current = { groups: freezeList(shown.current.groups, next), choice };
  return shown.current.groups;
}

/** How many tasks need a person: in the title, the favicon and the phone's title bar. */
export function useNeedsYouCount(): number {
  const stamp = useAppState((state) => state.tasks.orderStamp);
  const workspace = useAppState((state) => state.workspaces.current);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the stamp says when a group may have changed.
  return useMemo(() => currentNeedsYou().length, [stamp, workspace]);
}
