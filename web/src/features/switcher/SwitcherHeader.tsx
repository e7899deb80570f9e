import { ChevronDown, Plus, Search, Settings, SlidersHorizontal, X } from "lucide-react";
import { commands } from "~/app/runtime";
import { openDialog, setUi, setView } from "~/app/ui-actions";
import { useAppSelection, useAppState } from "~/app/use-app-state";
import { go } from "~/places/use-place";
import type { SwitcherView } from "~/store/ui";
import { IconButton } from "~/ui/IconButton";
import { Kbd } from "~/ui/Kbd";
import { Menu, MenuCheck, MenuChoices, MenuHeading, MenuItem, MenuLine } from "~/ui/Menu";
import { Tooltip } from "~/ui/Tooltip";
import { BrandMark } from "./BrandMark";

export const FILTER_FIELD_ID = "task-filter";

export function SwitcherHeader({ brand }: { brand: boolean }) {
  return (
    <header>
      {brand && (
        <div className="flex h-12 items-center gap-2 px-3.5">
          <BrandMark />
          <span className="font-[650] tracking-[-0.015em]">flightstrip</span>
          <span className="ml-auto">
            <WorkspaceMenu />
          </span>
        </div>
      )}
      <div className="flex gap-2 px-3 pt-0.5 pb-1.5 max-sm:pt-2">
        <FilterField />
        <ViewMenu />
        <Tooltip text="New task" keys="C">
          <button
            type="button"
            aria-label="New task"
            onClick={() => openDialog({ kind: "new_task" })}
            className="grid size-8.5 shrink-0 place-items-center rounded-lg bg-accent text-on-accent transition hover:brightness-110 max-sm:size-11"
          >
            <Plus size={18} />
          </button>
        </Tooltip>
      </div>
    </header>
  );
}

function FilterField() {
  const filter = useAppState((state) => state.ui.filter);
  return (
    <label className="relative min-w-0 flex-1">
      <span className="sr-only">Find a task</span>
      <Search
        size={15}
        className="-translate-y-1/2 pointer-events-none absolute top-1/2 left-2.5 text-faint"
      />
      <input
        id={FILTER_FIELD_ID}
        type="search"
        value={filter}
        placeholder="Find a task"
        autoComplete="off"
        onChange={(event) => setUi({ filter: event.target.value })}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          setUi({ filter: "" });
          event.currentTarget.blur();
        }}
        className="field h-8.5 [&::-webkit-search-cancel-button]:hidden py-0 pr-8 pl-8 text-[13px] max-sm:h-11"
      />
      {filter === "" ? (
        <Kbd className="-translate-y-1/2 absolute top-1/2 right-2">/</Kbd>
      ) : (
        <button
          type="button"
          aria-label="Clear filter"
          onClick={() => setUi({ filter: "" })}
          className="-translate-y-1/2 absolute top-1/2 right-1 grid size-7 place-items-center text-faint hover:text-text"
        >
          <X size={14} />
        </button>
      )}
    </label>
  );
}

const VIEWS: ReadonlyArray<{ id: SwitcherView; name: string }> = [
  { id: "attention", name: "By attention" },
  { id: "repository", name: "By repository" },
  { id: "step", name: "By step" },
];

function ViewMenu() {
  const view = useAppState((state) => state.ui.view);
  const archived = useAppState((state) => state.ui.showArchived);
  const toggleArchive = (shown: boolean) => {
    setUi({ showArchived: shown });
    if (shown) void commands.listArchived();
  };
  return (
    <Menu
      align="end"
      trigger={
        <button
          type="button"
          aria-label="View"
          className={`grid size-8.5 shrink-0 place-items-center rounded-lg border border-line-strong bg-surface hover:bg-hover max-sm:size-11 ${view !== "attention" || archived ? "text-accent" : "text-muted"}`}
        >
          <SlidersHorizontal size={15} />
        </button>
      }
    >
      <MenuHeading>Group tasks</MenuHeading>
      <MenuChoices value={view} onChange={(next) => setView(next as SwitcherView)} choices={VIEWS} />
      <MenuLine />
      <MenuCheck checked={archived} onChange={toggleArchive}>
        Show archived
      </MenuCheck>
    </Menu>
  );
}

function WorkspaceMenu() {
  const name = useAppState((state) => state.workspaces.byId[state.workspaces.current ?? ""]?.workspace.name);
  const workspaceId = useAppState((state) => state.workspaces.current);
  const workspaces = useAppSelection((state) =>
    state.workspaces.order
      .map((id) => state.workspaces.byId[id]?.workspace)
      .filter((workspace) => workspace !== undefined),
  );
  if (!workspaceId) return null;
  const openSettings = () => go({ kind: "settings", workspaceId, section: "repositories" });
  return (
    <Menu
      align="end"
      trigger={
        <button
          type="button"
          className="flex h-8 items-center gap-1 rounded-lg px-2 text-[13px] text-muted hover:bg-hover hover:text-text"
        >
          <span className="sr-only">Workspace </span>
          {name}
          <ChevronDown size={14} />
        </button>
      }
    >
      {workspaces.length > 1 && (
        <>
          <MenuHeading>Workspaces</MenuHeading>
          <MenuChoices
            value={workspaceId}
            onChange={(id) => go({ kind: "home", workspaceId: id })}
            choices={workspaces}
          />
          <MenuLine />
        </>
      )}
      <MenuItem icon={<Settings size={15} />} onSelect={openSettings}>
        Settings
      </MenuItem>
      <MenuItem hint="?" onSelect={() => openDialog({ kind: "keys" })}>
        Keyboard shortcuts
      </MenuItem>
    </Menu>
  );
}

export function SettingsButton() {
  const workspaceId = useAppState((state) => state.workspaces.current);
  if (!workspaceId) return null;
  const open = () => {
    setUi({ switcherOpen: false });
    go({ kind: "settings", workspaceId, section: "repositories" });
  };
  return (
    <IconButton label="Settings" onClick={open}>
      <Settings size={16} />
    </IconButton>
  );
}
