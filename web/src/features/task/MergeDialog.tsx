import { CircleCheck, GitMerge } from "lucide-react";
import { useState } from "react";
import { commands } from "~/app/runtime";
import { closeDialog } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { type ChangedRepository, changedRepositories } from "~/features/changes/changed-repositories";
import { counted } from "~/format/numbers";
import { failureText } from "~/socket/requests";
import { taskOf } from "~/store/tasks";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { Notice } from "~/ui/Notice";

const OUTCOME_WORDS: Record<string, string> = {
  merged: "Merged",
  fast_forward: "Moved forward",
  already_up_to_date: "Nothing to merge",
};

/** Takes the result: each repository's branch into its base, where that can be done cleanly. */
export function MergeDialog({ taskId }: { taskId: string }) {
  const task = useAppState((state) => taskOf(state.tasks, taskId));
  const gitStatus = useAppState((state) => state.gitStatus);
  if (!task) return null;
  return (
    <Dialog
      title="Merge into the base branch"
      description="The worktree must be clean and nothing may conflict. Otherwise nothing is changed, and the reason is said here."
      onClose={closeDialog}
    >
      <ul className="flex flex-col gap-3">
        {changedRepositories(task, gitStatus).map((entry) => (
          <MergeRow key={`${entry.environmentId} ${entry.repository}`} entry={entry} />
        ))}
      </ul>
    </Dialog>
  );
}

function MergeRow({ entry }: { entry: ChangedRepository }) {
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<{ words: string } | { problem: string }>();
  const { worktree, held } = entry;
  const base = worktree.base_branch ?? held?.status?.base_branch ?? "the base";
  const merge = async () => {
    setBusy(true);
    try {
      const merged = await commands.mergeIntoBase(entry);
      const word = OUTCOME_WORDS[merged.outcome] ?? merged.outcome;
      setOutcome({ words: `${word}: ${merged.base_branch} is at ${merged.head_commit.slice(0, 10)}.` });
    } catch (failure) {
      setOutcome({ problem: failureText(failure) });
    }
    setBusy(false);
  };
  return (
    <li className="flex flex-col gap-2.5 rounded-xl border border-line p-3.5">
      <div className="flex items-center gap-3">
        <div className="min-w-0 flex-1">
          <p className="font-semibold text-[13.5px]">{worktree.display_name}</p>
          <p className="truncate text-muted text-xs">
            <span className="font-mono">{worktree.branch}</span> into{" "}
            <span className="font-mono">{base}</span>
            {held?.status?.ahead !== undefined && ` · ${counted(held.status.ahead, "commit")}`}
          </p>
        </div>
        <Button look="primary" busy={busy} onClick={() => void merge()}>
          <GitMerge size={15} /> Merge
        </Button>
      </div>
      {outcome && "problem" in outcome && <Notice tone="error" title={outcome.problem} />}
      {outcome && "words" in outcome && (
        <p role="status" className="flex items-center gap-2 text-[13px] text-review">
          <CircleCheck size={15} /> {outcome.words}
        </p>
      )}
    </li>
  );
}
