import { commands } from "~/app/runtime";
import { useAnswer } from "~/app/use-answer";
import { SelectField } from "~/ui/SelectField";

interface BranchPickerProps {
  control: { id?: string; "aria-label"?: string; "aria-describedby"?: string; "aria-invalid"?: boolean };
  repositoryId: string;
  /** `undefined`: the repository's default branch. */
  value: string | undefined;
  onChange(branch: string | undefined): void;
  className?: string;
}

/** The branches of a repository, most recent first. */
export function BranchPicker({ control, repositoryId, value, onChange, className = "" }: BranchPickerProps) {
  const answer = useAnswer(() => commands.branches(repositoryId), repositoryId);
  const known = answer.state === "answered" ? answer.value : { branches: [] as string[] };
  const fallback = "default_branch" in known ? known.default_branch : undefined;
  return (
    <SelectField
      {...control}
      className={className}
      value={value ?? ""}
      onChange={(event) => onChange(event.target.value || undefined)}
    >
      <option value="">{emptyLabel(answer.state, fallback)}</option>
      {known.branches
        .filter((branch) => branch !== fallback)
        .map((branch) => (
          <option key={branch} value={branch}>
            {branch}
          </option>
        ))}
    </SelectField>
  );
}

function emptyLabel(state: "loading" | "answered" | "failed", fallback: string | undefined): string {
  if (state === "loading") return "Loading branches…";
  if (state === "failed") return "Default branch";
  return fallback === undefined ? "Choose…" : `${fallback} (default)`;
}
