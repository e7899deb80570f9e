import { ArrowUp, Square } from "lucide-react";
import { type ClipboardEvent, type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { useAppState } from "~/app/use-app-state";
import { useLayout } from "~/app/use-layout";
import { isOver } from "~/store/sessions";
import type { UploadsState } from "~/store/uploads";
import { IconButton } from "~/ui/IconButton";
import type { AgentCommandInfo } from "~/wire/generated/AgentCommandInfo";
import type { Session } from "~/wire/generated/Session";
import { AgentSelectors } from "./AgentSelectors";
import { AttachButton } from "./AttachButton";
import { AttachmentChips } from "./AttachmentChips";
import { addFiles } from "./add-files";
import { CommandList } from "./CommandList";
import { commandMatches } from "./command-matches";
import { keepDraft, readDraft, showField } from "./drafts";
import { QueueList } from "./QueueList";
import { UsageFigure } from "./UsageFigure";

const NO_COMMANDS: AgentCommandInfo[] = [];
const TALLEST_PX = 260;

/** Where the next prompt is written. It keeps its draft, and queues while the agent is busy. */
export function Composer({ session }: { session: Session }) {
  const [text, setText] = useState(() => readDraft(session.id));
  const [marked, setMarked] = useState(0);
  const field = useRef<HTMLTextAreaElement>(null);
  const layout = useLayout();
  const known = useAppState((state) => state.sessions.reports[session.id]?.commands ?? NO_COMMANDS);
  const matches = commandMatches(text, known);
  const files = useAppState((state) => usableFiles(state.uploads, session.id));
  const nothing = text.trim() === "" && files === 0;
  const busy = session.state === "RUNNING" || session.state === "STARTING";
  const over = isOver(session);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text.
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, TALLEST_PX)}px`;
  }, [text]);

  useEffect(() => showField(session.id, setText), [session.id]);
  useEffect(() => commands.uploads.restore(session.id), [session.id]);
  const loaded = useAppState((state) => state.transcripts.bySession[session.id]?.loaded === true);
  useEffect(() => {
    if (loaded) void commands.outbox.restore(session.id);
  }, [loaded, session.id]);

  const write = (next: string) => {
    setText(next);
    setMarked(0);
    keepDraft(session.id, next);
  };
  const send = () => {
    const content = text.trim();
    if (nothing || over) return;
    write("");
    const files = commands.uploads.take(session.id);
    void commands.outbox.send(session.task_id, session.id, { id: crypto.randomUUID(), content, files });
  };
  const complete = (command: AgentCommandInfo) => {
    write(`/${command.name} `);
    field.current?.focus();
  };
  const pressKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const command = matches[marked];
    if (command && (event.key === "Tab" || event.key === "Enter")) {
      event.preventDefault();
      complete(command);
    } else if (matches.length > 0 && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : matches.length - 1;
      setMarked((marked + step) % matches.length);
    } else if (event.key === "Enter" && !event.shiftKey && layout !== "phone") {
      event.preventDefault();
      send();
    } else if (event.key === "Escape") field.current?.blur();
  };
  const paste = (event: ClipboardEvent) => {
    const { files, types } = event.clipboardData;
    // Copied text brings a picture of itself from some programs; the text is what was meant.
    if (files.length === 0 || types.includes("text/plain")) return;
    event.preventDefault();
    addFiles(session, [...files]);
  };
  const stop = () => void attempt("The agent was not stopped", commands.cancelTurn(session.id));

  return (
    <div className="px-5 pb-4 max-sm:px-2.5 max-sm:pb-2.5">
      <div className="relative mx-auto max-w-180">
        <QueueList sessionId={session.id} />
        {matches.length > 0 && <CommandList matches={matches} marked={marked} onPick={complete} />}
        <div className="rounded-2xl bg-surface shadow-strip transition-shadow focus-within:shadow-[0_0_0_1.5px_var(--accent),0_6px_20px_rgb(16_24_40/0.08)] dark:bg-raised">
          <AttachmentChips sessionId={session.id} />
          <textarea
            ref={field}
            value={text}
            rows={1}
            disabled={over}
            aria-label="Message"
            placeholder={placeholder(busy, over)}
            onChange={(event) => write(event.target.value)}
            onKeyDown={pressKey}
            onPaste={paste}
            className="block max-h-65 w-full resize-none bg-transparent px-4 pt-3 pb-1.5 leading-relaxed outline-none"
          />
          <div className="flex items-center gap-0.5 p-1.5 pt-0.5">
            <AttachButton disabled={over} onFiles={(chosen) => addFiles(session, chosen)} />
            {!over && <AgentSelectors sessionId={session.id} />}
            <span className="ml-auto flex items-center gap-1.5">
              <UsageFigure sessionId={session.id} />
              {busy && (
                <IconButton
                  label="Stop"
                  onClick={stop}
                  className="border border-line-strong bg-sunken text-text"
                >
                  <Square size={12} fill="currentColor" />
                </IconButton>
              )}
              <IconButton
                label={busy ? "Queue message" : "Send message"}
                disabled={nothing || over}
                onClick={send}
                className="bg-accent text-on-accent hover:bg-accent! hover:text-on-accent! hover:brightness-110"
              >
                <ArrowUp size={17} strokeWidth={2.4} />
              </IconButton>
            </span>
          </div>
        </div>
      </div>
    </div>
  );
}

function usableFiles({ fields, byId }: UploadsState, sessionId: string): number {
  return (fields[sessionId] ?? []).filter((id) => byId[id]?.state !== "unfit").length;
}

function placeholder(busy: boolean, over: boolean): string {
  // One line of a phone, which shows no second one.
  if (over) return "This session is over. Open another.";
  return busy ? "Queue the next step…" : "Message the agent…";
}
