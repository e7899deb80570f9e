import { FolderGit2, GitBranch } from "lucide-react";
import { CopyButton } from "~/ui/CopyButton";
import type { Task } from "~/wire/generated/Task";

/** Where the result is: branch and folder of every worktree, to be copied. */
export function BranchLine({ task }: { task: Task }) {
  const worktrees = task.environments.flatMap((environment) => environment.repositories);
  if (worktrees.length === 0) return null;
  return (
    <ul aria-label="Worktrees" className="mt-0.5 flex flex-wrap gap-x-5 text-muted text-xs">
      {worktrees.map((worktree) => (
        <li key={worktree.id} className="flex min-w-0 items-center gap-1">
          <span className="mr-1 shrink-0 font-medium text-text">{worktree.display_name}</span>
          <GitBranch size={12} className="text-faint" />
          <span className="truncate font-mono text-[11.5px]">{worktree.branch}</span>
          <CopyButton text={worktree.branch} label="Copy branch name" className="size-6.5 max-sm:size-11" />
          <FolderGit2 size={12} className="text-faint" />
          <span
            title={worktree.worktree_path}
            className="max-w-44 truncate font-mono text-[11.5px] [direction:rtl]"
          >
            <bdi>{worktree.worktree_path}</bdi>
          </span>
          <CopyButton text={worktree.worktree_path} label="Copy folder" className="size-6.5 max-sm:size-11" />
        </li>
      ))}
    </ul>
  );
}
