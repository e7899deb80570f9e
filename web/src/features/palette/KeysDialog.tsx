import { closeDialog } from "~/app/ui-actions";
import { Dialog } from "~/ui/Dialog";

const KEYS: ReadonlyArray<[keys: string[], what: string]> = [
  [["⌘/Ctrl", "K"], "Go to a task or do something"],
  [["j"], "Next row"],
  [["k"], "Previous row"],
  [["Enter"], "Open the row"],
  [["g", "n"], "Next task that needs you"],
  [["a"], "Allow once: the row's or the open task's request"],
  [["1", "–", "9"], "Choose an option of the newest open request"],
  [["Enter"], "Send the answers to its questions"],
  [["Alt", "↑ ↓"], "Move a queued message"],
  [["/"], "Find a task"],
  [["c"], "New task"],
  [["m"], "Write a message"],
  [["Shift", "Enter"], "New line in a message"],
  [["Esc"], "Leave the field, the walk or the dialog"],
  [["?"], "These keys"],
];

export function KeysDialog() {
  return (
    <Dialog title="Keyboard shortcuts" onClose={closeDialog} width="sm:w-120">
      <dl className="flex flex-col">
        {KEYS.map(([keys, what]) => (
          <div
            key={what}
            className="flex min-h-9 items-center gap-4 border-line not-last:border-b text-[13.5px]"
          >
            <dd className="order-1 flex-1">{what}</dd>
            <dt className="order-2 flex gap-1">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="min-w-6 rounded-md border border-line-strong bg-sunken px-1.5 py-0.5 text-center font-sans text-muted text-xs"
                >
                  {key}
                </kbd>
              ))}
            </dt>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
