/** Light, dark, or what the system says: one attribute on the page's root. */
import type { AppStore } from "~/store/store";
import { savePreferences } from "./preferences";

const DARK = "(prefers-color-scheme: dark)";

/** Keeps the root's theme and the saved preferences true to the store. Runs before the first drawing. */
export function followPreferences(store: AppStore): void {
  const system = window.matchMedia(DARK);
  const apply = () => {
    const { theme } = store.getState().ui;
    const dark = theme === "dark" || (theme === "system" && system.matches);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
  };
  apply();
  system.addEventListener("change", apply);
  store.subscribe((state, before) => {
    if (state.ui === before.ui) return;
    savePreferences(state.ui);
    if (state.ui.theme !== before.ui.theme) apply();
  });
}
