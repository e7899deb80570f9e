import { ArrowDown, ArrowUp, Ellipsis, GripVertical, Paperclip, PenLine, Send, X, Zap } from "lucide-react";
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react";
import { attempt, notify } from "~/app/attempt";
import { commands, store } from "~/app/runtime";
import type { QueuedPrompt } from "~/store/queue";
import { Button } from "~/ui/Button";
import { IconButton } from "~/ui/IconButton";
import { Menu, MenuItem, MenuLine } from "~/ui/Menu";
import { addToDraft } from "./drafts";
import { QueueEditor } from "./QueueEditor";

interface QueuedRowProps {
  prompt: QueuedPrompt;
  sessionId: string;
  /** The queue stands still until a person starts it. */
  waits: boolean;
  place: number;
  count: number;
  dragged: boolean;
  onGrip(event: PointerEvent): void;
  onMove(to: number): void;
  onRemove(): void;
}

/** One prompt in line: its words, its place, and what can be done with it. */
export function QueuedRow({ prompt, sessionId, waits, place, count, dragged, ...on }: QueuedRowProps) {
  const { message, text, changing } = prompt;
  const [editing, setEditing] = useState<string>();
  const [sending, setSending] = useState(false);
  const still = waits || message.disposition === "undelivered";
  const begun = useRef<string>(undefined);
  // A prompt may go out while its words are being changed: what was typed is not lost with the row.
  useEffect(
    () => () => {
      const queue = store.getState().transcripts.bySession[sessionId]?.queue ?? [];
      // When the whole list goes, because another session is shown, the prompt is still in line.
      if (begun.current === undefined || queue.includes(message.id)) return;
      addToDraft(sessionId, begun.current);
      notify("info", "It left the queue before your change", "Your words are in the message field.");
    },
    [sessionId, message.id],
  );
  const edit = async () => {
    const loading = commands.queue.fullText({ ...message, content: text });
    if (!(await attempt("The message cannot be edited now", loading))) return;
    setEditing(await loading);
  };
  const send = async (work: Promise<void>) => {
    setSending(true);
    await attempt("The message was not sent", work);
    setSending(false);
  };
  const sendNow = () => void send(commands.queue.sendNow(sessionId, message.id));
  const start = () => void send(commands.resend(sessionId, message.id));
  const pressKey = (event: KeyboardEvent) => {
    if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    event.preventDefault();
    on.onMove(place + (event.key === "ArrowUp" ? -1 : 1));
  };
  if (editing !== undefined) {
    return (
      <li>
        <QueueEditor
          initial={editing}
          onTyped={(typed) => {
            begun.current = typed;
          }}
          onDone={(changed) => {
            begun.current = undefined;
            setEditing(undefined);
            if (changed === undefined || changed === editing) return;
            const saving = commands.queue.rewrite(sessionId, message.id, changed);
            void attempt("The message was not changed", saving).then((saved) => {
              if (!saved) addToDraft(sessionId, changed);
            });
          }}
        />
      </li>
    );
  }
  return (
    <li
      onKeyDown={pressKey}
      className={`flex items-center gap-0.5 rounded-lg text-[13px] ${dragged ? "bg-raised shadow-strip" : ""} ${changing ? "opacity-60" : ""}`}
    >
      <button
        type="button"
        aria-label={`Place ${place + 1} of ${count}. Alt and arrow keys move it.`}
        onPointerDown={on.onGrip}
        className="grid h-8 w-6 shrink-0 cursor-grab touch-none place-items-center rounded-md text-faint hover:text-text active:cursor-grabbing max-sm:h-11 max-sm:w-9"
      >
        <GripVertical size={14} />
      </button>
      <button
        type="button"
        aria-label={`Edit: ${text}`}
        onClick={() => void edit()}
        className="flex min-h-8 min-w-0 flex-1 items-center gap-1.5 rounded-md px-1 text-left text-muted hover:text-text max-sm:min-h-11"
      >
        <span className="min-w-0 truncate">{text || "Files only"}</span>
        <Files count={message.attachments?.length ?? 0} />
      </button>
      {still ? (
        <Button size="small" busy={sending} onClick={start}>
          <Send size={13} /> Send
        </Button>
      ) : (
        <span className={`shrink-0 px-1.5 text-faint text-xs ${sending ? "" : "max-sm:hidden"}`}>
          {sending ? "stopping…" : "queued"}
        </span>
      )}
      <Menu
        align="end"
        side="top"
        trigger={
          <button
            type="button"
            aria-label={`More for: ${text}`}
            className="grid size-8 shrink-0 place-items-center rounded-lg text-muted hover:bg-hover hover:text-text max-sm:size-11"
          >
            <Ellipsis size={15} />
          </button>
        }
      >
        {still ? (
          <MenuItem icon={<Send size={15} />} onSelect={start}>
            Send
          </MenuItem>
        ) : (
          <MenuItem icon={<Zap size={15} />} onSelect={sendNow}>
            Send now
            <span className="block text-muted text-xs">Stops what the agent is doing first</span>
          </MenuItem>
        )}
        <MenuItem icon={<PenLine size={15} />} onSelect={() => void edit()}>
          Edit
        </MenuItem>
        <MenuItem
          icon={<ArrowUp size={15} />}
          hint="Alt ↑"
          disabled={place === 0}
          onSelect={() => on.onMove(place - 1)}
        >
          Move up
        </MenuItem>
        <MenuItem
          icon={<ArrowDown size={15} />}
          hint="Alt ↓"
          disabled={place === count - 1}
          onSelect={() => on.onMove(place + 1)}
        >
          Move down
        </MenuItem>
        <MenuLine />
        <MenuItem icon={<X size={15} />} onSelect={on.onRemove}>
          Remove from queue
        </MenuItem>
      </Menu>
      <IconButton label="Remove from queue" onClick={on.onRemove}>
        <X size={14} />
      </IconButton>
    </li>
  );
}

function Files({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <span className="num flex shrink-0 items-center gap-0.5 text-faint text-xs">
      <Paperclip size={12} aria-hidden="true" />
      <span className="sr-only">files:</span> {count}
    </span>
  );
}
