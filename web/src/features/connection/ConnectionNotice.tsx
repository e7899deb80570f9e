import { WifiOff } from "lucide-react";
import { useAppState } from "~/app/use-app-state";
import { useNow } from "~/app/use-now";
import { noticeLevel } from "./connection-notice";

/** Says that what is on the page may be old, and that it repairs itself. */
export function ConnectionNotice() {
  const lostAt = useAppState((state) => state.connection.lostAt);
  const now = useNow();
  const level = noticeLevel(lostAt, now);
  if (level === "none") return null;
  if (level === "quiet") {
    return (
      <p
        role="status"
        className="-translate-x-1/2 fixed bottom-3 left-1/2 z-40 flex animate-rise items-center gap-2 rounded-full bg-raised px-3.5 py-1.5 text-muted text-xs shadow-float"
      >
        <span className="size-1.5 animate-breathe rounded-full bg-ask" /> Reconnecting…
      </p>
    );
  }
  return (
    <p
      role="alert"
      data-tone="ask"
      className="flex shrink-0 items-center justify-center gap-2 border-tone/30 border-b bg-tone-soft px-4 py-1.5 text-[13px]"
    >
      <WifiOff size={15} className="text-tone" />
      <span>
        <b className="font-semibold">No connection to the server.</b> What you see may be old. It is tried
        again by itself.
      </span>
    </p>
  );
}
