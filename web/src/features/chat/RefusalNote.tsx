import { CircleAlert } from "lucide-react";
import type { Refusal } from "./use-decision";

/** Why an answer did not count, on its card. */
export function RefusalNote({ refusal, settled }: { refusal: Refusal | undefined; settled: boolean }) {
  if (!refusal || (settled && refusal.kind === "failed")) return null;
  return (
    <p role="alert" className="mt-2 flex items-start gap-2 break-words text-[13px] text-error">
      <CircleAlert size={15} className="mt-0.5" />
      <span className="min-w-0">
        {refusal.kind === "late"
          ? "Your answer did not count: this was resolved before it came. What stands here is what the agent got."
          : `Your answer did not get through. ${refusal.words}`}
      </span>
    </p>
  );
}
