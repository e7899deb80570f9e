import type { Session } from "~/wire/generated/Session";

/** The last line while an agent works: something is happening even when nothing is written. */
export function WorkingLine({ session }: { session: Session }) {
  const words = workingWords(session);
  if (!words) return <div className="h-2" />;
  return (
    <p role="status" className="mx-auto flex max-w-180 items-center gap-2 pb-4 text-[13px] text-muted">
      <span aria-hidden="true" className="flex gap-1">
        {[0, 1, 2].map((dot) => (
          <span
            key={dot}
            style={{ animationDelay: `${dot * 180}ms` }}
            className="size-1.25 animate-breathe rounded-full bg-accent"
          />
        ))}
      </span>
      {words}
    </p>
  );
}

function workingWords(session: Session): string | undefined {
  if (session.pending_action) return undefined;
  if (session.state === "STARTING") return "The agent is starting…";
  if (session.state === "RUNNING") return "Working…";
  if (session.foreground_activity === "background") return "Subagents are at work…";
  return undefined;
}
