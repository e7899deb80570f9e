import { CornerDownLeft, Search } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { store } from "~/app/runtime";
import { closeDialog } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { StateIcon } from "~/features/switcher/StateIcon";
import { currentRowIds } from "~/features/switcher/use-row-list";
import { useRowModel } from "~/features/switcher/use-row-model";
import { taskPlace } from "~/places/place";
import { go } from "~/places/use-place";
import { taskOf } from "~/store/tasks";
import { Kbd } from "~/ui/Kbd";
import { PALETTE_ACTIONS, type PaletteAction } from "./palette-actions";

type Entry = { kind: "task"; id: string } | { kind: "action"; id: string; action: PaletteAction };

/** More than this is found quicker by another letter. */
const TASKS_SHOWN = 8;
const optionId = (entry: Entry) => `palette-${entry.kind}-${entry.id}`;

function entriesFor(text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (name: string) => words.every((word) => name.toLowerCase().includes(word));
  const { tasks } = store.getState();
  const ids = currentRowIds().filter((id) => matches(taskOf(tasks, id)?.title ?? ""));
  const actions = PALETTE_ACTIONS.filter((action) => matches(action.name));
  return [
    ...ids.slice(0, TASKS_SHOWN).map((id) => ({ kind: "task" as const, id })),
    ...actions.map((action) => ({ kind: "action" as const, id: action.id, action })),
  ];
}

/** Tasks and actions by a few letters. */
export function Palette() {
  const workspaceId = useAppState((state) => state.workspaces.current);
  const [text, setText] = useState("");
  const [marked, setMarked] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const entries = entriesFor(text);
  const current = entries[Math.min(marked, entries.length - 1)];
  const pick = (entry: Entry | undefined) => {
    if (!entry) return;
    closeDialog();
    if (entry.kind === "action") entry.action.run();
    else if (workspaceId) go(taskPlace(workspaceId, entry.id));
  };
  const pressKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setMarked((held) => (held + step + entries.length) % Math.max(1, entries.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      pick(current);
    }
  };
  const markedId = current && optionId(current);
  useEffect(() => {
    if (markedId)
      list.current?.querySelector(`#${CSS.escape(markedId)}`)?.scrollIntoView({ block: "nearest" });
  }, [markedId]);
  return (
    <Radix.Root open onOpenChange={(open) => !open && closeDialog()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-fade bg-(--scrim)" />
        <Radix.Content
          aria-describedby={undefined}
          className="-translate-x-1/2 fixed top-[14vh] left-1/2 z-50 flex max-h-[62vh] w-[min(36rem,calc(100vw-24px))] animate-rise flex-col overflow-hidden rounded-2xl bg-raised shadow-float outline-none"
        >
          <Radix.Title className="sr-only">Go to a task or do something</Radix.Title>
          <div className="flex items-center gap-3 border-line border-b px-4">
            <Search size={16} className="text-faint" />
            <input
              role="combobox"
              aria-label="Go to a task or do something"
              aria-expanded="true"
              aria-controls="palette-list"
              aria-activedescendant={markedId}
              value={text}
              placeholder="Go to a task or do something…"
              onChange={(event) => {
                setText(event.target.value);
                setMarked(0);
              }}
              onKeyDown={pressKey}
              className="h-12.5 min-w-0 flex-1 bg-transparent text-[15px] outline-none"
            />
          </div>
          <div
            ref={list}
            id="palette-list"
            role="listbox"
            aria-label="Results"
            className="overflow-y-auto p-1.5"
          >
            {entries.map((entry) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the field above, which owns the selection.
              <div
                key={optionId(entry)}
                id={optionId(entry)}
                role="option"
                tabIndex={-1}
                aria-selected={entry === current}
                onClick={() => pick(entry)}
                onPointerMove={() => setMarked(entries.indexOf(entry))}
                className="flex h-9.5 cursor-pointer items-center gap-3 rounded-lg px-2.5 text-[13.5px] aria-selected:bg-hover max-sm:h-12"
              >
                {entry.kind === "task" ? <TaskEntry id={entry.id} /> : <ActionEntry action={entry.action} />}
              </div>
            ))}
            {entries.length === 0 && (
              <p className="px-3 py-6 text-center text-[13px] text-muted">Nothing matches.</p>
            )}
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function TaskEntry({ id }: { id: string }) {
  const row = useRowModel(id);
  if (!row) return null;
  return (
    <>
      <span data-tone={row.tone} className="text-tone">
        <StateIcon state={row.state} />
      </span>
      <span className="min-w-0 flex-1 truncate">{row.title}</span>
      <span data-tone={row.reasonTone} className="num shrink-0 text-muted text-xs">
        <span className={row.group === "needs_you" ? "font-medium text-tone" : ""}>{row.reason}</span> ·{" "}
        {row.age}
      </span>
    </>
  );
}

function ActionEntry({ action }: { action: PaletteAction }) {
  return (
    <>
      <CornerDownLeft size={15} className="text-faint" />
      <span className="min-w-0 flex-1 truncate">{action.name}</span>
      {action.keys && <Kbd>{action.keys}</Kbd>}
    </>
  );
}
