/** What this browser remembers of a person's choices. Nothing here is a secret and nothing is needed. */
import type { UiState } from "~/store/ui";

const KEY = "flightstrip.preferences";

export type Preferences = Pick<UiState, "theme" | "view" | "switcherWidth" | "changesOpen" | "changesWidth">;

export function loadPreferences(): Partial<Preferences> {
  try {
    return pick(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<UiState>);
  } catch {
    return {};
  }
}

export function savePreferences(ui: UiState): void {
  localStorage.setItem(KEY, JSON.stringify(pick(ui)));
}

function pick(ui: Partial<UiState>): Partial<Preferences> {
  const { theme, view, switcherWidth, changesOpen, changesWidth } = ui;
  const chosen = { theme, view, switcherWidth, changesOpen, changesWidth };
  return Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined));
}
