import { compact } from "~/format/numbers";

interface TotalsProps {
  additions: number;
  deletions: number;
  className?: string;
}

/** Lines added and removed, in figures that line up. */
export function Totals({ additions, deletions, className = "" }: TotalsProps) {
  return (
    <span className={`num inline-flex shrink-0 gap-1.5 ${className}`}>
      <span className="text-add">
        <span aria-hidden="true">+{compact(additions)}</span>
        <span className="sr-only">{additions} lines added,</span>
      </span>
      <span className="text-del">
        <span aria-hidden="true">−{compact(deletions)}</span>
        <span className="sr-only">{deletions} removed</span>
      </span>
    </span>
  );
}
