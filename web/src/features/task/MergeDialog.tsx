import { CircleCheck, GitMerge, Send } from "lucide-react";
import { useState } from "react";
import { commands } from "~/app/runtime";
import { closeDialog } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { type ChangedRepository, changedRepositories } from "~/features/changes/changed-repositories";
import { counted } from "~/format/numbers";
import { failureText, refusalReason } from "~/socket/requests";
import { taskOf } from "~/store/tasks";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { Notice } from "~/ui/Notice";
import { useTaskSessions } from "./use-task-session";

const OUTCOME_WORDS: Record<string, string> = {
  merged: "Merged",
  fast_forward: "Moved forward",
  already_up_to_date: "Nothing to merge",
};

/** Takes the result: each repository's branch into its base, where that can be done cleanly. */
export function MergeDialog({ taskId }: { taskId: string }) {
  const task = useAppState((state) => taskOf(state.tasks, taskId));
  const gitStatus = useAppState((state) => state.gitStatus);
  const { shown } = useTaskSessions(taskId, undefined);
  if (!task) return null;
  const ask = (prompt: string) => {
    if (!shown) return;
    const message = { id: crypto.randomUUID(), content: prompt, files: [] };
    void commands.outbox.send(taskId, shown.id, message);
    closeDialog();
  };
  return (
    <Dialog
      title="Merge into the base branch"
      description="The worktree must be clean and nothing may conflict. Otherwise nothing is changed, and the reason is said here."
      onClose={closeDialog}
    >
      <ul className="flex flex-col gap-3">
        {changedRepositories(task, gitStatus).map((entry) => (
          <MergeRow
            key={`${entry.environmentId} ${entry.repository}`}
            entry={entry}
            onAsk={shown ? ask : undefined}
          />
        ))}
      </ul>
    </Dialog>
  );
}

type Outcome = { words: string } | { problem: string; prompt: string | undefined };

interface MergeRowProps {
  entry: ChangedRepository;
  /** Hands what is in the way to the agent; absent without a session. */
  onAsk: ((prompt: string) => void) | undefined;
}

function MergeRow({ entry, onAsk }: MergeRowProps) {
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const { worktree, held } = entry;
  const base = worktree.base_branch ?? held?.status?.base_branch ?? "the base";
  const merge = async () => {
    setBusy(true);
    try {
      const merged = await commands.mergeIntoBase(entry);
      const word = OUTCOME_WORDS[merged.outcome] ?? merged.outcome;
      setOutcome({ words: `${word}: ${merged.base_branch} is at ${merged.head_commit.slice(0, 10)}.` });
    } catch (failure) {
      const prompt = promptFor(refusalReason(failure), worktree.display_name, base);
      setOutcome({ problem: failureText(failure), prompt });
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
      {outcome && "problem" in outcome && <Refusal {...outcome} onAsk={onAsk} />}
      {outcome && "words" in outcome && (
        <p role="status" className="flex items-center gap-2 text-[13px] text-review">
          <CircleCheck size={15} /> {outcome.words}
        </p>
      )}
    </li>
  );
}

/** What to ask of the agent so that the merge can be done; nothing where an agent cannot help. */
function promptFor(reason: string | undefined, repository: string, base: string): string | undefined {
  if (reason === "uncommitted_changes") return `Commit your work in ${repository} with a clear message.`;
  if (reason === "conflict")
    return `Merge ${base} into your branch in ${repository}, resolve the conflicts and commit.`;
  return undefined;
}

interface RefusalProps {
  problem: string;
  prompt: string | undefined;
  onAsk: ((prompt: string) => void) | undefined;
}

function Refusal({ problem, prompt, onAsk }: RefusalProps) {
  const help =
    prompt && onAsk ? (
      <Button size="small" onClick={() => onAsk(prompt)}>
        <Send size={13} /> Ask the agent
      </Button>
    ) : undefined;
  return <Notice tone="error" title={problem} action={help} />;
}
