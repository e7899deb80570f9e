import { X } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { attempt, notify } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { useAppState } from "~/app/use-app-state";
import { moved, noWishes, type QueuedPrompt, queuedPrompts } from "~/store/queue";
import { isOver } from "~/store/sessions";
import { CopyButton } from "~/ui/CopyButton";
import { IconButton } from "~/ui/IconButton";
import type { Message } from "~/wire/generated/Message";
import { addToDraft } from "./drafts";
import { QueuedRow } from "./QueuedRow";
import { useDragOrder } from "./use-drag-order";

const NOTHING: readonly string[] = [];
const NO_ROWS: Record<string, Message> = {};
const NO_WISHES = noWishes();

/** Prompts that wait for the agent, in the order they will be sent. */
export function QueueList({ sessionId }: { sessionId: string }) {
  const queued = useQueue(sessionId);
  const [said, setSaid] = useState("");
  const list = useRef<HTMLOListElement>(null);
  // After a crash or a failed start the queue waits for a person; sending one of it starts it.
  const waits = useAppState((state) => {
    const session = state.sessions.byId[sessionId];
    return session !== undefined && session.state !== "RUNNING" && session.state !== "STARTING";
  });
  const over = useAppState((state) => {
    const session = state.sessions.byId[sessionId];
    return session !== undefined && isOver(session);
  });
  const ids = queued.map(({ message }) => message.id);
  const move = (id: string, to: number) => {
    const order = moved(ids, id, to);
    if (order.every((other, index) => other === ids[index])) return;
    setSaid(`Moved to place ${order.indexOf(id) + 1} of ${order.length}.`);
    void attempt("The order did not change", commands.queue.reorder(sessionId, order));
  };
  const drag = useDragOrder(list, ids, move);
  const remove = async ({ message, text }: QueuedPrompt) => {
    if (!(await attempt("The message was not removed", commands.queue.remove(sessionId, message.id)))) return;
    // What was removed keeps its identity for ever, so it comes back as words for a new message.
    const back = { label: "Put text in the field", run: () => addToDraft(sessionId, text) };
    notify(
      "info",
      "Taken out of the queue",
      "It will not be sent.",
      over || message.content_truncated ? undefined : back,
    );
  };
  const shown = drag.preview
    ? drag.preview.flatMap((id) => queued.filter(({ message }) => message.id === id))
    : queued;
  if (queued.length === 0) return null;
  return (
    <div className="mx-3 mb-[-1px] rounded-t-xl border border-line border-b-0 bg-sunken px-1 py-1 max-sm:mx-1.5">
      <p role="status" className="sr-only">
        {said}
      </p>
      {waits && (
        <p className="px-2.5 pt-1 pb-0.5 text-muted text-xs">
          {over
            ? "The session is over: these are not sent any more."
            : "The queue waits for you: sending one of these starts it."}
        </p>
      )}
      <ol
        ref={list}
        aria-label="Queued messages"
        className="max-h-[38dvh] overflow-y-auto overscroll-contain"
      >
        {shown.map((prompt, index) =>
          over ? (
            <OverRow key={prompt.message.id} prompt={prompt} onRemove={() => void remove(prompt)} />
          ) : (
            <QueuedRow
              key={prompt.message.id}
              prompt={prompt}
              sessionId={sessionId}
              waits={waits}
              place={index}
              count={shown.length}
              dragged={drag.dragged === prompt.message.id}
              onGrip={(event) => drag.begin(event, prompt.message.id)}
              onMove={(to) => move(prompt.message.id, to)}
              onRemove={() => void remove(prompt)}
            />
          ),
        )}
      </ol>
    </div>
  );
}

function useQueue(sessionId: string): QueuedPrompt[] {
  const queue = useAppState((state) => state.transcripts.bySession[sessionId]?.queue ?? NOTHING);
  const wishes = useAppState((state) => state.transcripts.bySession[sessionId]?.wishes ?? NO_WISHES);
  const rows = useAppState((state) => state.transcripts.bySession[sessionId]?.rows ?? NO_ROWS);
  return useMemo(() => queuedPrompts(queue, rows, wishes), [queue, rows, wishes]);
}

/** A prompt that a closed session did not get to: its words can be taken elsewhere. */
function OverRow({ prompt: { message, text }, onRemove }: { prompt: QueuedPrompt; onRemove(): void }) {
  return (
    <li className="flex min-h-8 items-center gap-1.5 rounded-lg pl-2.5 text-[13px] text-muted max-sm:min-h-11">
      <span className="min-w-0 flex-1 truncate">{text || "Files only"}</span>
      {text !== "" && !message.content_truncated && <CopyButton text={text} label={`Copy: ${text}`} />}
      <IconButton label="Remove from queue" onClick={onRemove}>
        <X size={14} />
      </IconButton>
    </li>
  );
}
