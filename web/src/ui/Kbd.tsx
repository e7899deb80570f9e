import type { ReactNode } from "react";

export function Kbd({ children, className = "" }: { children: ReactNode; className?: string }) {
  return (
    <kbd
      className={`rounded border border-line-strong px-1.25 font-sans text-[11px] text-faint leading-4 max-sm:hidden ${className}`}
    >
      {children}
    </kbd>
  );
}
