import { FolderGit2 } from "lucide-react";
import { closeDialog } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { go } from "~/places/use-place";
import { Button } from "~/ui/Button";
import type { Repository } from "~/wire/generated/Repository";
import { BranchPicker } from "./BranchPicker";
import type { Chosen } from "./NewTaskDialog";

interface RepositoryPickerProps {
  repositories: Repository[];
  chosen: Chosen;
  onChange(chosen: Chosen): void;
}

/** Which repositories the task works on, and what each worktree starts from. */
export function RepositoryPicker({ repositories, chosen, onChange }: RepositoryPickerProps) {
  const toggle = (id: string) => {
    const without = chosen.filter((entry) => entry.id !== id);
    onChange(without.length < chosen.length ? without : [...chosen, { id, branch: undefined }]);
  };
  const setBranch = (id: string, branch: string | undefined) =>
    onChange(chosen.map((entry) => (entry.id === id ? { id, branch } : entry)));
  return (
    <fieldset>
      <legend className="mb-1.5 font-medium text-[13px]">Repositories</legend>
      {repositories.length === 0 ? (
        <NoRepositories />
      ) : (
        <ul className="max-h-50 overflow-y-auto rounded-lg border border-line-strong max-sm:max-h-62">
          {repositories.map((repository) => {
            const entry = chosen.find(({ id }) => id === repository.id);
            return (
              <li
                key={repository.id}
                className="flex min-h-10 items-center gap-3 px-3 not-first:border-line not-first:border-t max-sm:min-h-12"
              >
                <label className="flex min-w-0 flex-1 cursor-pointer items-center gap-2.5 py-1.5 text-[13.5px]">
                  <input
                    type="checkbox"
                    checked={entry !== undefined}
                    onChange={() => toggle(repository.id)}
                    className="size-4 accent-(--accent)"
                  />
                  <span className="shrink-0 font-medium">{repository.name}</span>
                  <span className="truncate text-faint text-xs">{repository.path}</span>
                </label>
                {entry && (
                  <BranchPicker
                    control={{ "aria-label": `Base branch of ${repository.name}` }}
                    repositoryId={repository.id}
                    value={entry.branch}
                    onChange={(branch) => setBranch(repository.id, branch)}
                    className="my-1 w-44 shrink-0 text-[13px] max-sm:w-36"
                  />
                )}
              </li>
            );
          })}
        </ul>
      )}
    </fieldset>
  );
}

function NoRepositories() {
  const workspaceId = useAppState((state) => state.workspaces.current);
  const openSettings = () => {
    closeDialog();
    if (workspaceId) go({ kind: "settings", workspaceId, section: "repositories" });
  };
  return (
    <div className="flex items-center gap-3 rounded-lg border border-line-strong border-dashed px-3 py-2.5 text-[13px] text-muted">
      <FolderGit2 size={17} />
      <span className="flex-1">No repository is registered yet.</span>
      <Button size="small" onClick={openSettings}>
        Add one
      </Button>
    </div>
  );
}
