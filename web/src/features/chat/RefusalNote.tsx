import { CircleAlert } from "lucide-react";
import type { Refusal } from "./use-decision";

const WORDS: Partial<Record<Refusal["kind"], string>> = {
  late: "Your answer did not count: it came too late. This is what happened instead.",
  repeated: "This is resolved already, perhaps by your own first try.",
};

/** Why an answer did not count, on its card. */
export function RefusalNote({ refusal, settled }: { refusal: Refusal | undefined; settled: boolean }) {
  if (!refusal || (settled && refusal.kind === "failed")) return null;
  return (
    <p role="alert" className="mt-2 flex items-start gap-2 break-words text-[13px] text-error">
      <CircleAlert size={15} className="mt-0.5" />
      <span className="min-w-0">
        {WORDS[refusal.kind] ?? `Your answer did not get through. ${refusal.words}`}
      </span>
    </p>
  );
}
