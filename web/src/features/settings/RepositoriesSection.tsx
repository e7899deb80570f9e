import { FolderGit2, GitBranch, Trash2 } from "lucide-react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { useAppState } from "~/app/use-app-state";
import { BranchPicker } from "~/features/new-task/BranchPicker";
import { useRepositories } from "~/features/new-task/use-repositories";
import { IconButton } from "~/ui/IconButton";
import type { Repository } from "~/wire/generated/Repository";
import { AddRepository } from "./AddRepository";

export function RepositoriesSection() {
  const workspaceId = useAppState((state) => state.workspaces.current);
  const repositories = useRepositories(workspaceId);
  if (!workspaceId) return null;
  return (
    <div className="flex flex-col gap-6">
      <p className="text-[13.5px] text-muted">
        Folders on the server that tasks may work on. Agents never touch the folder itself: each task gets a
        worktree of its own.
      </p>
      {repositories.length > 0 && (
        <ul
          aria-label="Registered repositories"
          className="divide-y divide-line rounded-xl border border-line"
        >
          {repositories.map((repository) => (
            <RepositoryRow key={repository.id} repository={repository} />
          ))}
        </ul>
      )}
      <AddRepository workspaceId={workspaceId} />
    </div>
  );
}

function RepositoryRow({ repository }: { repository: Repository }) {
  const remove = () =>
    void attempt("The repository was not removed", commands.removeRepository(repository.id));
  const setDefault = (branch: string | undefined) => {
    if (!branch) return;
    const update = commands.updateRepository(repository.id, { default_branch: branch });
    void attempt("The default branch was not changed", update);
  };
  return (
    <li className="flex items-center gap-3 px-4 py-3 max-sm:flex-wrap">
      <FolderGit2 size={17} className="text-muted" />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{repository.name}</p>
        <p className="truncate font-mono text-[11.5px] text-muted">{repository.path}</p>
      </div>
      <GitBranch size={14} className="text-faint" />
      <BranchPicker
        control={{ "aria-label": `Default branch of ${repository.name}` }}
        repositoryId={repository.id}
        value={undefined}
        onChange={setDefault}
        className="w-48 text-[13px]"
      />
      <IconButton label={`Remove ${repository.name}`} onClick={remove}>
        <Trash2 size={15} />
      </IconButton>
    </li>
  );
}
