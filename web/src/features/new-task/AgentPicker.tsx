import { Field } from "~/ui/Field";
import { SelectField } from "~/ui/SelectField";
import type { AgentProfile } from "~/wire/generated/AgentProfile";

interface AgentPickerProps {
  profiles: AgentProfile[];
  value: string | undefined;
  onChange(profileId: string): void;
}

export function AgentPicker({ profiles, value, onChange }: AgentPickerProps) {
  return (
    <Field label="Agent" hint={profiles.length === 0 ? "Add one in Settings first." : undefined}>
      {(control) => (
        <SelectField
          {...control}
          value={value ?? ""}
          disabled={profiles.length === 0}
          onChange={(event) => onChange(event.target.value)}
        >
          {profiles.map((profile) => (
            <option key={profile.id} value={profile.id}>
              {profile.name}
            </option>
          ))}
        </SelectField>
      )}
    </Field>
  );
}
