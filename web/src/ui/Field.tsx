import { type ReactNode, useId } from "react";

interface FieldProps {
  label: string;
  hint?: ReactNode;
  problem?: string | undefined;
  /** Draws the control with the ids that join it to its label and its notes. */
  children(control: { id: string; "aria-describedby": string; "aria-invalid": boolean }): ReactNode;
}

/** A labelled control with its hint or its problem below. */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId();
  const notes = `${id}-notes`;
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="font-medium text-[13px]">
        {label}
      </label>
      {children({ id, "aria-describedby": notes, "aria-invalid": problem !== undefined })}
      <div id={notes} className={`text-xs ${problem ? "text-error" : "text-muted"} empty:hidden`}>
        {problem ?? hint}
      </div>
    </div>
  );
}
