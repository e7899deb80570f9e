import { FileDiff, RefreshCw } from "lucide-react";
import { useState } from "react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { useAppState } from "~/app/use-app-state";
import { useNow } from "~/app/use-now";
import { measuredAge } from "~/format/relative-time";
import type { Place } from "~/places/place";
import { EmptyState } from "~/ui/EmptyState";
import { IconButton } from "~/ui/IconButton";
import { Totals } from "~/ui/Totals";
import type { Session } from "~/wire/generated/Session";
import type { Task } from "~/wire/generated/Task";
import { type ChangedRepository, changedRepositories, measuredAt, totalsOf } from "./changed-repositories";
import { RepositoryChanges } from "./RepositoryChanges";

interface ChangesPaneProps {
  task: Task;
  place: Extract<Place, { kind: "task" }>;
  session: Session | undefined;
}

/** What the task changed, repository by repository, measured as the row measures it. */
export function ChangesPane({ task, place, session }: ChangesPaneProps) {
  const gitStatus = useAppState((state) => state.gitStatus);
  const repositories = changedRepositories(task, gitStatus);
  const totals = totalsOf(repositories);
  return (
    <section aria-label="Changes" className="flex min-h-0 flex-1 flex-col">
      <header className="flex h-12 shrink-0 items-center gap-2.5 px-4">
        <h2 className="font-semibold">Changes</h2>
        {totals && totals.additions + totals.deletions > 0 && <Totals {...totals} className="text-[13px]" />}
        <Measured repositories={repositories} session={session} />
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain pb-6">
        {repositories.length === 0 ? (
          <EmptyState icon={<FileDiff size={20} />} title="No worktree yet">
            Changes appear here once an agent has a worktree to work in.
          </EmptyState>
        ) : (
          repositories.map((entry) => (
            <RepositoryChanges
              key={`${entry.environmentId} ${entry.repository}`}
              entry={entry}
              place={place}
            />
          ))
        )}
      </div>
    </section>
  );
}

function Measured({
  repositories,
  session,
}: {
  repositories: ChangedRepository[];
  session: Session | undefined;
}) {
  const [busy, setBusy] = useState(false);
  const now = useNow();
  const at = measuredAt(repositories);
  const failed = repositories.some(({ held }) => held?.failure !== undefined);
  if (!session) return null;
  const refresh = async () => {
    setBusy(true);
    await attempt("The worktree was not measured", commands.refreshGit(session.id));
    setBusy(false);
  };
  return (
    <span className="num ml-auto flex min-w-0 items-center gap-1 text-muted text-xs">
      <span className="truncate">
        {at === undefined ? "not measured yet" : `measured ${measuredAge(at, now)}`}
        {failed && <span className="text-ask"> · last attempt failed</span>}
      </span>
      <IconButton label="Measure now" disabled={busy} onClick={() => void refresh()}>
        <RefreshCw size={14} className={busy ? "animate-turn" : ""} />
      </IconButton>
    </span>
  );
}
