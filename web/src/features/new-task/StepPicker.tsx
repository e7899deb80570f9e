import { useAppState } from "~/app/use-app-state";
import { Field } from "~/ui/Field";
import { SelectField } from "~/ui/SelectField";
import type { Step } from "~/wire/generated/Step";

const NO_STEPS: Step[] = [];

interface StepPickerProps {
  value: string | undefined;
  /** A started task moves by itself. */
  disabled: boolean;
  onChange(stepId: string | undefined): void;
}

export function StepPicker({ value, disabled, onChange }: StepPickerProps) {
  const steps = useAppState((state) => {
    const boards = Object.values(state.workspaces.workflows);
    return boards.find((board) => board.workspace_id === state.workspaces.current)?.steps ?? NO_STEPS;
  });
  return (
    <Field label="Step" hint={disabled ? "A started task moves by itself." : undefined}>
      {(control) => (
        <SelectField
          {...control}
          value={value ?? steps[0]?.id ?? ""}
          disabled={disabled}
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
