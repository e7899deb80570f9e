import { FileCheck2, GitBranch } from "lucide-react";
import { useState } from "react";
import { commands } from "~/app/runtime";
import { counted } from "~/format/numbers";
import type { Place } from "~/places/place";
import { failureText } from "~/socket/requests";
import { Button } from "~/ui/Button";
import { Skeleton } from "~/ui/Skeleton";
import type { FileChange } from "~/wire/generated/FileChange";
import type { GitStatus } from "~/wire/generated/GitStatus";
import type { ChangedRepository } from "./changed-repositories";
import { FileRow } from "./FileRow";

interface RepositoryChangesProps {
  entry: ChangedRepository;
  place: Extract<Place, { kind: "task" }>;
}

const FAILURE_WORDS = {
  timeout: "Measuring took too long.",
  git_failed: "Git refused to answer.",
  worktree_missing: "The worktree is not there.",
  not_this_repository: "The folder answers for another repository.",
} as const;

export function RepositoryChanges({ entry, place }: RepositoryChangesProps) {
  const { held, worktree } = entry;
  return (
    <section aria-label={`Changes in ${worktree.display_name}`}>
      <h3 className="flex flex-wrap items-center gap-x-2 gap-y-0.5 px-4 pt-1.5 pb-2 text-muted text-xs">
        <b className="font-semibold text-[13px] text-text">{worktree.display_name}</b>
        <span className="flex min-w-0 items-center gap-1">
          <GitBranch size={12} className="text-faint" />
          <span className="truncate font-mono text-[11.5px]">{held?.status?.branch ?? worktree.branch}</span>
        </span>
        <Relation status={held?.status} base={worktree.base_branch} />
      </h3>
      {held?.failure && <p className="px-4 pb-2 text-ask text-xs">{FAILURE_WORDS[held.failure.reason]}</p>}
      {held?.status ? <FileList entry={entry} status={held.status} place={place} /> : <Unmeasured />}
    </section>
  );
}

function Relation({ status, base }: { status: GitStatus | undefined; base: string | undefined }) {
  const name = status?.base_branch ?? base;
  if (status && !status.base_resolvable) return <span className="text-ask">no base to compare with</span>;
  if (!name) return null;
  const { ahead, behind } = status ?? {};
  const parts = [ahead ? `${ahead} ahead of` : "", behind ? `${behind} behind` : ""].filter(Boolean);
  return (
    <span className="truncate">{parts.length > 0 ? `${parts.join(", ")} ${name}` : `from ${name}`}</span>
  );
}

function Unmeasured() {
  return (
    <div role="status" aria-label="Not measured yet" className="flex flex-col gap-3 px-4 py-2">
      <Skeleton className="h-3.5 w-4/5" />
      <Skeleton className="h-3.5 w-3/5" />
    </div>
  );
}

interface FileListProps {
  entry: ChangedRepository;
  status: GitStatus;
  place: Extract<Place, { kind: "task" }>;
}

/** The files of the stored observation; where it carries none, or not all, they are asked for page by page. */
function FileList({ entry, status, place }: FileListProps) {
  const [fetched, setFetched] = useState<{
    timestamp: string;
    files: FileChange[];
    cursor: string | undefined;
  }>();
  const [problem, setProblem] = useState<string>();
  const current = fetched?.timestamp === status.timestamp ? fetched : undefined;
  const files = current?.files ?? status.files ?? [];
  const missing = status.changed_files - files.length;
  const more = async () => {
    setProblem(undefined);
    try {
      const page = await commands.changes(entry, current?.cursor);
      const before = current?.cursor === undefined ? [] : current.files;
      setFetched({ timestamp: status.timestamp, files: [...before, ...page.files], cursor: page.cursor });
    } catch (failure) {
      setProblem(failureText(failure));
    }
  };
  if (status.changed_files === 0) {
    return (
      <p className="flex items-center gap-2 px-4 py-2 text-[13px] text-muted">
        <FileCheck2 size={15} className="text-faint" /> No changes against the base.
      </p>
    );
  }
  return (
    <>
      <ul aria-label="Changed files">
        {files.map((file) => (
          <FileRow key={file.path} file={file} target={entry} place={place} stamp={status.timestamp} />
        ))}
      </ul>
      {missing > 0 && (
        <p className="flex items-center gap-2 px-4 py-2 text-muted text-xs">
          {counted(missing, "more file")}
          <Button size="small" onClick={() => void more()}>
            Show
          </Button>
          {problem && <span className="text-error">{problem}</span>}
        </p>
      )}
    </>
  );
}
