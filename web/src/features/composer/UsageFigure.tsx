import { useAppState } from "~/app/use-app-state";
import { compact } from "~/format/numbers";
import { Tooltip } from "~/ui/Tooltip";

const CIRCUMFERENCE = 2 * Math.PI * 6;

/** How full the agent's context is, as a small ring; the figures are in its hint. */
export function UsageFigure({ sessionId }: { sessionId: string }) {
  const usage = useAppState((state) => state.sessions.reports[sessionId]?.usage);
  if (!usage || usage.size === 0) return null;
  const share = Math.min(1, usage.used / usage.size);
  const words = `${compact(usage.used)} of ${compact(usage.size)} tokens used${usage.cost ? ` · ${usage.cost}` : ""}`;
  return (
    <Tooltip text={words}>
      <span role="img" aria-label={words} className="num flex items-center gap-1.5 px-1 text-faint text-xs">
        <svg aria-hidden="true" viewBox="0 0 16 16" className="-rotate-90 size-4">
          <circle cx="8" cy="8" r="6" fill="none" strokeWidth="2.4" className="stroke-line-strong" />
          <circle
            cx="8"
            cy="8"
            r="6"
            fill="none"
            strokeWidth="2.4"
            strokeDasharray={`${share * CIRCUMFERENCE} ${CIRCUMFERENCE}`}
            className={share > 0.85 ? "stroke-ask" : "stroke-accent"}
          />
        </svg>
        <span className="max-sm:hidden">{Math.round(share * 100)}%</span>
      </span>
    </Tooltip>
  );
}
