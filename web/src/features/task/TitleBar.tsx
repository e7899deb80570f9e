import { ChevronDown, GitMerge, Menu as MenuIcon } from "lucide-react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { openDialog, setUi } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { useNeedsYouCount } from "~/features/switcher/use-row-list";
import { useRowModel } from "~/features/switcher/use-row-model";
import { counted } from "~/format/numbers";
import type { Place } from "~/places/place";
import { go } from "~/places/use-place";
import { taskOf } from "~/store/tasks";
import { Menu, MenuChoices, MenuHeading, MenuItem, MenuLine } from "~/ui/Menu";
import { TaskMenu } from "./TaskMenu";
import { useProfiles } from "./use-profiles";
import { useTaskSessions } from "./use-task-session";

/** The bar of a narrow screen: the way to the switcher with its badge, the task and its state, its sessions. */
export function TitleBar({ place }: { place: Place }) {
  const needsYou = useNeedsYouCount();
  return (
    <header className="flex h-14 shrink-0 items-center gap-1 border-line border-b bg-surface px-1.5">
      <button
        type="button"
        aria-label={needsYou === 0 ? "Tasks" : `Tasks, ${counted(needsYou, "needs", "need")} you`}
        onClick={() => setUi({ switcherOpen: true })}
        className="relative grid size-11 shrink-0 place-items-center rounded-lg hover:bg-hover"
      >
        <MenuIcon size={20} />
        {needsYou > 0 && (
          <span
            aria-hidden="true"
            className="num absolute top-1 right-0.5 min-w-4 rounded-full bg-ask px-1 text-center font-semibold text-[10.5px] text-surface leading-4"
          >
            {needsYou}
          </span>
        )}
      </button>
      {place.kind === "task" ? <TaskTitle place={place} /> : <PlainTitle place={place} />}
    </header>
  );
}

function PlainTitle({ place }: { place: Place }) {
  return <b className="font-semibold">{place.kind === "settings" ? "Settings" : "flightstrip"}</b>;
}

function TaskTitle({ place }: { place: Extract<Place, { kind: "task" }> }) {
  const task = useAppState((state) => taskOf(state.tasks, place.taskId));
  const row = useRowModel(place.taskId);
  if (!task || !row) return <span className="flex-1" />;
  return (
    <>
      <h1 className="min-w-0 flex-1">
        <Menu
          trigger={
            <button
              type="button"
              className="flex h-12 w-full items-center gap-2 rounded-lg px-1.5 text-left hover:bg-hover"
            >
              <span className="min-w-0 flex-1">
                <span className="block truncate font-semibold text-[15px] leading-5">{row.title}</span>
                <span data-tone={row.reasonTone} className="num block truncate text-muted text-xs">
                  <span className="font-medium text-tone [[data-tone=done]_&]:text-muted [[data-tone=idle]_&]:text-muted">
                    {row.reason}
                  </span>{" "}
                  · {row.age}
                </span>
              </span>
              <ChevronDown size={17} className="text-muted" />
              <span className="sr-only">Sessions</span>
            </button>
          }
        >
          <SessionItems place={place} />
        </Menu>
      </h1>
      <TaskMenu task={task} />
    </>
  );
}

function SessionItems({ place }: { place: Extract<Place, { kind: "task" }> }) {
  const { all, shown } = useTaskSessions(place.taskId, place.sessionId);
  const profiles = useProfiles(place.workspaceId);
  const show = (sessionId: string) => go({ ...place, sessionId }, "replace");
  const launch = (profileId: string) =>
    void attempt(
      "The session did not start",
      commands
        .launchSession(place.taskId, crypto.randomUUID(), profileId)
        .then((session) => show(session.id)),
    );
  return (
    <>
      <MenuHeading>Sessions</MenuHeading>
      <MenuChoices value={shown?.id} onChange={show} choices={all} />
      <MenuLine />
      <MenuHeading>New session with</MenuHeading>
      {profiles.map((profile) => (
        <MenuItem key={profile.id} onSelect={() => launch(profile.id)}>
          {profile.name}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem
        icon={<GitMerge size={15} />}
        onSelect={() => openDialog({ kind: "merge", taskId: place.taskId })}
      >
        Merge into base…
      </MenuItem>
    </>
  );
}
