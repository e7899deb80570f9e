import { Switch as Radix } from "radix-ui";
import { type ReactNode, useId } from "react";

interface SwitchProps {
  label: ReactNode;
  checked: boolean;
  onChange(checked: boolean): void;
}

export function Switch({ label, checked, onChange }: SwitchProps) {
  const id = useId();
  return (
    <div className="flex min-h-8 items-center gap-2.5 max-sm:min-h-11">
      <Radix.Root
        id={id}
        checked={checked}
        onCheckedChange={onChange}
        className="h-5 w-8.5 shrink-0 rounded-full bg-line-strong p-0.5 transition-colors data-[state=checked]:bg-accent"
      >
        <Radix.Thumb className="block size-4 rounded-full bg-white shadow transition-transform data-[state=checked]:translate-x-3.5" />
      </Radix.Root>
      <label htmlFor={id} className="cursor-pointer text-[13px]">
        {label}
      </label>
    </div>
  );
}
