import { ChevronDown, CircleStop, PenLine, Plus, Star, Trash2 } from "lucide-react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { openDialog } from "~/app/ui-actions";
import type { Place } from "~/places/place";
import { go } from "~/places/use-place";
import { IconButton } from "~/ui/IconButton";
import { Menu, MenuHeading, MenuItem, MenuLine } from "~/ui/Menu";
import type { Session } from "~/wire/generated/Session";
import type { Task } from "~/wire/generated/Task";
import { useProfiles } from "./use-profiles";

interface SessionTabsProps {
  task: Task;
  place: Extract<Place, { kind: "task" }>;
  sessions: Session[];
  shown: Session | undefined;
}

/** The conversations of a task, and a way to start another. */
export function SessionTabs({ task, place, sessions, shown }: SessionTabsProps) {
  const show = (session: Session) => go({ ...place, sessionId: session.id }, "replace");
  return (
    <div className="mt-1 flex h-9.5 items-end gap-4.5">
      {sessions.length > 0 && (
        <div role="tablist" aria-label="Sessions" className="flex min-w-0 gap-4.5 overflow-x-auto">
          {sessions.map((session) => (
            <button
              key={session.id}
              type="button"
              role="tab"
              aria-selected={session.id === shown?.id}
              onClick={() => show(session)}
              className="-mb-px flex h-9.5 shrink-0 items-center gap-1.5 border-transparent border-b-2 px-0.5 text-[13px] text-muted hover:text-text aria-selected:border-accent aria-selected:font-medium aria-selected:text-text"
            >
              {session.pending_action && <span className="size-1.5 rounded-full bg-ask" />}
              {session.name}
              {session.pending_action && <span className="sr-only">, needs you</span>}
            </button>
          ))}
        </div>
      )}
      <span className="flex h-9.5 items-center gap-0.5">
        {shown && <SessionMenu session={shown} alone={sessions.length === 1} />}
        <NewSessionMenu task={task} onLaunched={show} />
      </span>
    </div>
  );
}

function SessionMenu({ session, alone }: { session: Session; alone: boolean }) {
  const stop = () => void attempt("The agent was not stopped", commands.stopSession(session.id));
  const makePrimary = () => void attempt("Nothing was changed", commands.makePrimary(session.id));
  return (
    <Menu
      trigger={
        <IconButton label={`Actions for session ${session.name}`} className="size-7">
          <ChevronDown size={14} />
        </IconButton>
      }
    >
      <MenuItem
        icon={<PenLine size={15} />}
        onSelect={() => openDialog({ kind: "rename_session", sessionId: session.id })}
      >
        Rename session…
      </MenuItem>
      <MenuItem icon={<CircleStop size={15} />} onSelect={stop}>
        Stop the agent's process
      </MenuItem>
      {!session.is_primary && (
        <MenuItem icon={<Star size={15} />} onSelect={makePrimary}>
          Make primary
        </MenuItem>
      )}
      {!alone && (
        <>
          <MenuLine />
          <MenuItem
            danger
            icon={<Trash2 size={15} className="text-error" />}
            onSelect={() => openDialog({ kind: "delete_session", sessionId: session.id })}
          >
            Delete session…
          </MenuItem>
        </>
      )}
    </Menu>
  );
}

interface NewSessionMenuProps {
  task: Task;
  onLaunched(session: Session): void;
}

function NewSessionMenu({ task, onLaunched }: NewSessionMenuProps) {
  const profiles = useProfiles(task.workspace_id);
  const launch = (profileId: string) =>
    void attempt(
      "The session did not start",
      commands.launchSession(task.id, crypto.randomUUID(), profileId).then(onLaunched),
    );
  return (
    <Menu
      trigger={
        <IconButton label="New session" className="size-7">
          <Plus size={15} />
        </IconButton>
      }
    >
      <MenuHeading>New session with</MenuHeading>
      {profiles.map((profile) => (
        <MenuItem key={profile.id} onSelect={() => launch(profile.id)}>
          {profile.name}
        </MenuItem>
      ))}
      {profiles.length === 0 && <MenuItem disabled>No agent yet. Add one in Settings.</MenuItem>}
    </Menu>
  );
}
