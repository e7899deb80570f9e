import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";

/** The platform's own list: it works with every keyboard, reader and thumb. */
export function SelectField({ className = "", ...rest }: ComponentProps<"select">) {
  return (
    <span className={`relative block ${className}`}>
      <select {...rest} className="field min-h-8.5 appearance-none truncate pr-8 max-sm:min-h-11" />
      <ChevronDown
        size={15}
        className="-translate-y-1/2 pointer-events-none absolute top-1/2 right-2.5 text-muted"
      />
    </span>
  );
}
