import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, MessageSquare } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { commands } from "~/app/runtime";
import { setUi } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { Button } from "~/ui/Button";
import { EmptyState } from "~/ui/EmptyState";
import { Skeleton } from "~/ui/Skeleton";
import type { Session } from "~/wire/generated/Session";
import { ClarificationCard } from "./ClarificationCard";
import { MessageView } from "./MessageView";
import { type TranscriptItem, transcriptItems } from "./transcript-items";
import { PendingSend } from "./UserMessage";
import { WorkingLine } from "./WorkingLine";

/** Unmeasured rows are taken for this high; the first look corrects it. */
const ROW_ESTIMATE_PX = 84;
/** So close to the end counts as reading along. */
const END_PX = 96;
/** So close to the start, older rows are asked for. */
const OLDER_PX = 600;

export function Transcript({ session }: { session: Session }) {
  const transcript = useAppState((state) => state.transcripts.bySession[session.id]);
  const items = useMemo(() => (transcript ? transcriptItems(transcript) : []), [transcript]);
  const scroller = useRef<HTMLDivElement>(null);
  const keyAt = useCallback((index: number) => items[index]?.key ?? index, [items]);
  const [away, setAway] = useState(false);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_ESTIMATE_PX,
    getItemKey: keyAt,
    paddingStart: 6,
    paddingEnd: 12,
    overscan: 6,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: END_PX,
  });
  const filled = items.length > 0;
  useEffect(() => {
    if (filled) virtualizer.scrollToEnd();
  }, [filled, virtualizer]);

  // A card that was asked for elsewhere comes into view once, and gets the focus for its keys.
  const wanted = useAppState((state) => state.ui.wantedRequest);
  const wantedAt =
    wanted === undefined
      ? -1
      : items.findIndex((item) => item.kind === "questions" && item.pendingId === wanted);
  useEffect(() => {
    if (wantedAt < 0 || wanted === undefined) return;
    setUi({ wantedRequest: undefined });
    virtualizer.scrollToIndex(wantedAt, { align: "center" });
    const focusCard = () =>
      scroller.current
        ?.querySelector<HTMLElement>(`[data-card="${CSS.escape(wanted)}"] :is(input, textarea)`)
        ?.focus({ preventScroll: true });
    requestAnimationFrame(() => requestAnimationFrame(focusCard));
  }, [wantedAt, wanted, virtualizer]);

  // Rows are measured after they are drawn, so where the end is may change without a scroll.
  const lookWhere = () => {
    const element = scroller.current;
    if (element) setAway(element.scrollHeight - element.scrollTop - element.clientHeight > END_PX);
  };
  useEffect(lookWhere);

  const scrolled = () => {
    lookWhere();
    const element = scroller.current;
    if (element && element.scrollTop < OLDER_PX && transcript?.hasOlder)
      void commands.olderMessages(session.id);
  };
  if (!transcript || (!transcript.loaded && !filled)) {
    return <NotLoaded sessionId={session.id} failed={transcript?.loading === "failed"} />;
  }
  if (!filled) return <NothingSaid session={session} />;
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        onScroll={scrolled}
        role="log"
        aria-label="Conversation"
        // Streamed text is not read out word by word; what needs a person announces itself.
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keys.
        tabIndex={0}
        className="h-full overflow-y-auto overscroll-contain px-5 outline-offset-[-2px] [overflow-anchor:none] max-sm:px-3.5"
      >
        {transcript.loading === "older" && (
          <p
            role="status"
            className="sticky top-2 z-1 mx-auto w-fit rounded-full bg-raised px-3 py-1 text-muted text-xs shadow-strip"
          >
            Loading older messages…
          </p>
        )}
        <div className="relative mx-auto max-w-180" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, key, start }) => {
            const item = items[index];
            if (!item) return null;
            return (
              <div
                key={key}
                data-index={index}
                ref={virtualizer.measureElement}
                className={`absolute inset-x-0 top-0 ${item.kind === "message" && item.tight ? "pt-1.5" : "pt-4"}`}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Item item={item} session={session} latest={index === items.length - 1} />
              </div>
            );
          })}
        </div>
        <WorkingLine session={session} />
      </div>
      {away && (
        <Button
          size="small"
          onClick={() => virtualizer.scrollToEnd({ behavior: "smooth" })}
          className="-translate-x-1/2 absolute bottom-3 left-1/2 animate-rise rounded-full bg-raised shadow-float"
        >
          <ArrowDown size={14} /> New
        </Button>
      )}
    </div>
  );
}

function Item({ item, session, latest }: { item: TranscriptItem; session: Session; latest: boolean }) {
  if (item.kind === "message") return <MessageView message={item.message} latest={latest} />;
  if (item.kind === "send") {
    return <PendingSend send={item.send} taskId={session.task_id} sessionId={session.id} />;
  }
  const { pendingId, rows, overtaken } = item;
  return <ClarificationCard session={session} pendingId={pendingId} rows={rows} overtaken={overtaken} />;
}

function NotLoaded({ sessionId, failed }: { sessionId: string; failed: boolean }) {
  if (failed) {
    return (
      <EmptyState
        icon={<MessageSquare size={20} />}
        title="The conversation did not load"
        action={<Button onClick={() => void commands.reloadTranscript(sessionId)}>Try again</Button>}
      >
        It comes by itself when the connection is back.
      </EmptyState>
    );
  }
  return (
    <div
      role="status"
      aria-label="Loading the conversation"
      className="mx-auto w-full max-w-180 flex-1 px-5 pt-8"
    >
      <Skeleton className="ml-auto h-14 w-3/5 rounded-2xl" />
      <Skeleton className="mt-6 h-3.5 w-4/5" />
      <Skeleton className="mt-2.5 h-3.5 w-3/5" />
      <Skeleton className="mt-6 h-10 w-full rounded-xl" />
      <Skeleton className="mt-3 h-10 w-full rounded-xl" />
    </div>
  );
}

function NothingSaid({ session }: { session: Session }) {
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <EmptyState icon={<MessageSquare size={20} />} title="Nothing said yet">
        {session.state === "STARTING" ? "The agent is starting." : "Write the first prompt below."}
      </EmptyState>
    </div>
  );
}
