import { useMemo } from "react";
import { store } from "~/app/runtime";
import { useAppState } from "~/app/use-app-state";
import { connectionWords } from "~/features/connection/connection-words";
import { counted } from "~/format/numbers";
import { valuesOf } from "~/store/sharded";
import { SettingsButton } from "./SwitcherHeader";

const DOT = { good: "bg-review", trying: "bg-ask animate-breathe", bad: "bg-error" } as const;

/** How the connection stands, and how much is going on. */
export function SwitcherFooter() {
  const phase = useAppState((state) => state.connection.phase);
  const { label, mood } = connectionWords(phase);
  const working = useWorkingCount();
  return (
    <footer className="flex h-11 shrink-0 items-center gap-2.5 border-line border-t pr-1.5 pl-4 text-muted text-xs max-sm:h-13">
      <span aria-hidden="true" className={`size-1.75 rounded-full ${DOT[mood]}`} />
      <span role="status">{label}</span>
      <span className="num ml-auto">
        {working === 0 ? "no agent at work" : `${counted(working, "agent")} at work`}
      </span>
      <SettingsButton />
    </footer>
  );
}

/** Tasks in which an agent works now. */
function useWorkingCount(): number {
  const stamp = useAppState((state) => state.tasks.orderStamp);
  // biome-ignore lint/correctness/useExhaustiveDependencies: activity decides a row's group, so the stamp tells.
  return useMemo(() => {
    const summaries = valuesOf(store.getState().tasks.summaries);
    return summaries.filter((summary) => summary.primary_session?.state === "RUNNING").length;
  }, [stamp]);
}
