import { useEffect } from "react";
import { allowOnce } from "~/features/chat/option-order";
import { goToNextThatNeedsYou } from "~/features/palette/palette-actions";
import { FILTER_FIELD_ID } from "~/features/switcher/SwitcherHeader";
import { currentRowIds } from "~/features/switcher/use-row-list";
import { taskPlace } from "~/places/place";
import { currentPlace, go } from "~/places/use-place";
import { attempt, notify } from "./attempt";
import { isTyping } from "./is-typing";
import { commands, store } from "./runtime";
import { openDialog, setUi, walkTo } from "./ui-actions";

/** How long `g` waits for its second key. */
const CHORD_MS = 1_200;

/** The task a key is about: the walked row, else the open one. */
function selectedTask(): string | undefined {
  const place = currentPlace();
  return store.getState().ui.walked ?? (place.kind === "task" ? place.taskId : undefined);
}

function walk(step: 1 | -1): void {
  const ids = currentRowIds();
  const from = selectedTask();
  const at = from === undefined ? -1 : ids.indexOf(from);
  const next =
    at < 0 ? (step === 1 ? ids[0] : ids.at(-1)) : ids[Math.min(ids.length - 1, Math.max(0, at + step))];
  if (next) walkTo(next);
}

function openWalked(): void {
  const { ui, workspaces } = store.getState();
  if (!ui.walked || !workspaces.current) return;
  go(taskPlace(workspaces.current, ui.walked));
  setUi({ walked: undefined, switcherOpen: false });
}

/** Answers the newest permission of the selected task with the option that allows it this one time. */
async function allowSelected(): Promise<void> {
  const taskId = selectedTask();
  if (!taskId) return;
  const answered = (async () => {
    const requests = await commands.pending(taskId);
    const request = requests.find(({ type }) => type === "permission_request");
    const option = request && allowOnce(request.options);
    if (!request || !option) return false;
    await commands.answer(request, option.id);
    return true;
  })();
  if ((await attempt("The answer did not count", answered)) && !(await answered)) {
    notify("info", "This task waits for no permission");
  }
}

const KEYS: Record<string, () => void> = {
  j: () => walk(1),
  k: () => walk(-1),
  Enter: openWalked,
  a: () => void allowSelected(),
  c: () => openDialog({ kind: "new_task" }),
  "?": () => openDialog({ kind: "keys" }),
  "/": () => document.getElementById(FILTER_FIELD_ID)?.focus(),
  m: () => document.querySelector<HTMLTextAreaElement>("textarea[aria-label=Message]")?.focus(),
  Escape: () => walkTo(undefined),
};

/** The page's keys. Fields, menus and dialogs keep theirs. */
export function useShortcuts(): void {
  useEffect(() => {
    let chordUntil = 0;
    const press = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        openDialog({ kind: "palette" });
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event)) return;
      const onControl = event.target instanceof HTMLElement && event.target.closest("a, button") !== null;
      if (event.key === "Enter" && onControl) return;
      if (event.key === "n" && event.timeStamp < chordUntil) {
        chordUntil = 0;
        goToNextThatNeedsYou();
        return;
      }
      chordUntil = event.key === "g" ? event.timeStamp + CHORD_MS : 0;
      const run = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : undefined;
      if (!run) return;
      if (event.key !== "Escape") event.preventDefault();
      run();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
}
