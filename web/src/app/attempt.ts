import { failureText } from "~/socket/requests";
import { change } from "~/store/store";
import { addToast, type ToastAction } from "~/store/ui";
import { store } from "./runtime";

/** Waits for a command and says so when it failed. Returns whether it was accepted. */
export async function attempt(whatFailed: string, work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (failure) {
    notify("error", whatFailed, failureText(failure));
    return false;
  }
}

export function notify(
  tone: "info" | "success" | "error",
  title: string,
  detail?: string,
  action?: ToastAction,
): void {
  change(store, (draft) => addToast(draft.ui, { tone, title, detail, action }));
}
