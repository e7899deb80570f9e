import { Bot, FolderGit2, Info, type LucideIcon, Palette } from "lucide-react";
import { type Place, placeAddress, SETTINGS_SECTIONS, type SettingsSection } from "~/places/place";
import { go } from "~/places/use-place";
import { AboutSection } from "./AboutSection";
import { AgentsSection } from "./AgentsSection";
import { AppearanceSection } from "./AppearanceSection";
import { RepositoriesSection } from "./RepositoriesSection";

const SECTION: Record<SettingsSection, { name: string; icon: LucideIcon; view: () => React.ReactNode }> = {
  repositories: { name: "Repositories", icon: FolderGit2, view: RepositoriesSection },
  agents: { name: "Agents", icon: Bot, view: AgentsSection },
  appearance: { name: "Appearance", icon: Palette, view: AppearanceSection },
  about: { name: "About", icon: Info, view: AboutSection },
};

export function SettingsView({ place }: { place: Extract<Place, { kind: "settings" }> }) {
  const { name, view: View } = SECTION[place.section];
  return (
    <main className="min-h-0 flex-1 overflow-y-auto bg-surface">
      <div className="mx-auto flex max-w-240 gap-10 px-6 py-8 max-md:flex-col max-md:gap-5 max-sm:px-4 max-sm:py-4">
        <nav
          aria-label="Settings"
          className="flex w-44 shrink-0 flex-col gap-0.5 max-md:w-full max-md:flex-row max-md:overflow-x-auto"
        >
          {SETTINGS_SECTIONS.map((section) => {
            const { name: label, icon: Icon } = SECTION[section];
            const target = { ...place, section };
            return (
              <a
                key={section}
                href={placeAddress(target)}
                aria-current={section === place.section ? "page" : undefined}
                onClick={(event) => {
                  event.preventDefault();
                  go(target);
                }}
                className="flex h-9 shrink-0 items-center gap-2.5 rounded-lg px-3 text-[13.5px] text-muted hover:bg-hover hover:text-text aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-text max-sm:h-11"
              >
                <Icon size={16} /> {label}
              </a>
            );
          })}
        </nav>
        <section aria-label={name} className="min-w-0 flex-1">
          <h1 className="mb-4 font-[640] text-xl tracking-[-0.015em]">{name}</h1>
          <View />
        </section>
      </div>
    </main>
  );
}
