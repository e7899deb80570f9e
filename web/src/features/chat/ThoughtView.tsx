import { Brain, ChevronRight } from "lucide-react";
import { useState } from "react";
import { counted } from "~/format/numbers";
import type { Message } from "~/wire/generated/Message";
import { Markdown } from "./Markdown";

/** Reasoning: folded, with its newest line while it streams. */
export function ThoughtView({ message, live }: { message: Message; live: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <section aria-label="Thought">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="-mx-2 flex max-w-full items-center gap-2 rounded-lg px-2 py-1 text-[13px] text-muted hover:bg-hover max-sm:min-h-11"
      >
        <Brain size={15} className={live ? "animate-breathe" : ""} />
        <span className="shrink-0">
          {live ? "Thinking…" : `Thought · ${counted(wordCount(message.content), "word")}`}
        </span>
        {live && !open && <span className="min-w-0 truncate text-faint">{lastLine(message.content)}</span>}
        <ChevronRight size={14} className={`text-faint transition-transform ${open ? "rotate-90" : ""}`} />
      </button>
      {open && (
        <div className="mt-1 ml-1.5 border-line border-l-2 pl-4 text-[13.5px] text-muted">
          <Markdown text={message.content} />
        </div>
      )}
    </section>
  );
}

function wordCount(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

/** The end of what is being thought, as far as it fits on a line. */
function lastLine(text: string): string {
  const LONGEST = 160;
  return text.slice(-LONGEST).trimEnd().split("\n").at(-1)?.trim() ?? "";
}
