import { useAppState } from "~/app/use-app-state";
import { Field } from "~/ui/Field";
import { SelectField } from "~/ui/SelectField";
import type { Step } from "~/wire/generated/Step";

const NO_STEPS: Step[] = [];

interface StepPickerProps {
  value: string | undefined;
  onChange(stepId: string | undefined): void;
}

/** Where an unstarted task stands; a started one moves by itself. */
export function StepPicker({ value, onChange }: StepPickerProps) {
  const steps = useAppState((state) => {
    const boards = Object.values(state.workspaces.workflows);
    return boards.find((board) => board.workspace_id === state.workspaces.current)?.steps ?? NO_STEPS;
  });
  return (
    <Field label="Step">
      {(control) => (
        <SelectField
          {...control}
          value={value ?? steps[0]?.id ?? ""}
          onChange={(event) => onChange(event.target.value)}
        >
          {steps.map((step) => (
            <option key={step.id} value={step.id}>
              {step.name}
            </option>
          ))}
        </SelectField>
      )}
    </Field>
  );
}
