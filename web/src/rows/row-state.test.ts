import { expect, test } from "vitest";
import type { SummaryPayload } from "~/wire/generated/SummaryPayload";
import type { TaskState } from "~/wire/generated/TaskState";
import cases from "../../../crates/model/cases/row_states.json";
import { attentionGroup, rowState } from "./row-state";

interface Case {
  name: string;
  state: string;
  on_last_step?: boolean;
  interrupted?: boolean;
  summary?: SummaryPayload;
  row_state: string;
  group: string;
}

test.each(cases as Case[])("PEN-01 WEB-01 WEB-05 the shared table: $name", (line) => {
  const facts = {
    state: line.state as TaskState,
    onLastStep: line.on_last_step ?? false,
    interrupted: line.interrupted ?? false,
    summary: line.summary,
  };
  expect(rowState(facts)).toBe(line.row_state);
  expect(attentionGroup(facts)).toBe(line.group);
});
