import { Monitor, Moon, Sun } from "lucide-react";
import { setTheme } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import type { Theme } from "~/store/ui";

const THEMES = [
  { id: "system", name: "System", icon: Monitor },
  { id: "light", name: "Light", icon: Sun },
  { id: "dark", name: "Dark", icon: Moon },
] as const satisfies ReadonlyArray<{ id: Theme; name: string; icon: unknown }>;

export function AppearanceSection() {
  const theme = useAppState((state) => state.ui.theme);
  return (
    <fieldset>
      <legend className="mb-3 text-[13.5px] text-muted">Kept by this browser.</legend>
      <div className="grid max-w-120 grid-cols-3 gap-3">
        {THEMES.map(({ id, name, icon: Icon }) => (
          <label
            key={id}
            className="flex cursor-pointer flex-col items-center gap-2 rounded-xl border border-line px-3 py-5 text-[13.5px] hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name="theme"
              value={id}
              checked={theme === id}
              onChange={() => setTheme(id)}
              className="sr-only"
            />
            <Icon size={20} className="text-muted" />
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
