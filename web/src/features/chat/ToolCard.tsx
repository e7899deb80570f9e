import {
  Brain,
  ChevronRight,
  FilePen,
  FileSearch,
  FileX,
  Globe,
  type LucideIcon,
  MoveRight,
  Search,
  SquareTerminal,
  Wrench,
} from "lucide-react";
import { useState } from "react";
import { Totals } from "~/ui/Totals";
import type { ToolCall } from "~/wire/generated/ToolCall";
import { EditView } from "./EditView";
import { editTotals } from "./edit-lines";

const KIND: Record<string, [LucideIcon, string]> = {
  read: [FileSearch, "Read"],
  edit: [FilePen, "Edit"],
  delete: [FileX, "Delete"],
  move: [MoveRight, "Move"],
  search: [Search, "Search"],
  execute: [SquareTerminal, "Run"],
  think: [Brain, "Think"],
  fetch: [Globe, "Fetch"],
};

/** The word is the agent's: it may be one that every object inherits. */
function kindOf(word: string): [LucideIcon, string] {
  return (Object.hasOwn(KIND, word) ? KIND[word] : undefined) ?? [Wrench, "Tool"];
}

/** What an agent does to the world: one line, its input, output and edits on demand. */
export function ToolCard({ toolCall }: { toolCall: ToolCall }) {
  const [Icon, kindName] = kindOf(toolCall.kind);
  const hasDetail = Boolean(toolCall.input || toolCall.output || toolCall.edits?.length);
  const [open, setOpen] = useState(false);
  const totals = editTotals(toolCall.edits ?? []);
  return (
    <section
      aria-label={`${kindName}: ${toolCall.title}`}
      className="overflow-hidden rounded-xl border border-line"
    >
      <button
        type="button"
        aria-expanded={hasDetail ? open : undefined}
        disabled={!hasDetail}
        onClick={() => setOpen(!open)}
        className="flex min-h-9.5 w-full items-center gap-2.5 px-3 py-1.5 text-left text-[13px] enabled:hover:bg-hover/60 disabled:cursor-default max-sm:min-h-11"
      >
        <Icon size={15} className="text-muted" />
        <span className="shrink-0 font-medium">{toolCall.subagent ? "Subagent" : kindName}</span>
        <span className="min-w-0 flex-1 truncate text-muted">{withoutVerb(toolCall.title, kindName)}</span>
        {totals && <Totals {...totals} className="text-xs" />}
        <ToolStatus status={toolCall.status} />
        {hasDetail && (
          <ChevronRight size={14} className={`text-faint transition-transform ${open ? "rotate-90" : ""}`} />
        )}
      </button>
      {open && <ToolDetail toolCall={toolCall} />}
    </section>
  );
}

/** Agents often begin a title with the verb that already stands before it. */
function withoutVerb(title: string, verb: string): string {
  const [first, ...rest] = title.split(" ");
  return first?.toLowerCase() === verb.toLowerCase() && rest.length > 0 ? rest.join(" ") : title;
}

function ToolStatus({ status }: { status: string }) {
  if (status === "completed") return null;
  if (status === "failed") return <span className="font-medium text-error text-xs">failed</span>;
  const word = status === "in_progress" ? "running" : status === "pending" ? "waiting" : status;
  return (
    <span className="flex items-center gap-1.5 text-accent text-xs">
      <span className="size-1.5 animate-breathe rounded-full bg-current" />
      {word}
    </span>
  );
}

function ToolDetail({ toolCall }: { toolCall: ToolCall }) {
  return (
    <div className="border-line border-t">
      {toolCall.locations && toolCall.locations.length > 0 && (
        <p className="break-all border-line border-b px-3 py-2 font-mono text-[11.5px] text-muted">
          {toolCall.locations.join("\n")}
        </p>
      )}
      {toolCall.input && !toolCall.edits?.length && <Text label="Input" text={toolCall.input} />}
      {toolCall.edits?.map((edit) => (
        <EditView key={edit.path} edit={edit} />
      ))}
      {toolCall.output && <Text label="Output" text={toolCall.output} />}
      {toolCall.output_truncated && (
        <p className="border-line border-t px-3 py-1.5 text-faint text-xs">The output was cut here.</p>
      )}
    </div>
  );
}

function Text({ label, text }: { label: string; text: string }) {
  return (
    <div className="bg-sunken not-first:border-t not-first:border-line">
      <p className="px-3 pt-2 text-[11px] text-faint">{label}</p>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keys.
        tabIndex={0}
        className="max-h-90 overflow-auto whitespace-pre-wrap break-words px-3 pt-0.5 pb-2.5 font-mono text-xs leading-relaxed"
      >
        {text}
      </pre>
    </div>
  );
}
