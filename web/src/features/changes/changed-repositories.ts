/** What Changes shows of each repository, joined from the environment (which worktrees) and Git status (what was seen). */
import { type GitStatusState, type RepositoryStatus, repositoryKey } from "~/store/git-status";
import type { EnvironmentRepository } from "~/wire/generated/EnvironmentRepository";
import type { FileChange } from "~/wire/generated/FileChange";
import type { Task } from "~/wire/generated/Task";

export interface ChangedRepository {
  environmentId: string;
  /** The key of Git status: empty for the root. */
  repository: string;
  worktree: EnvironmentRepository;
  held: RepositoryStatus | undefined;
}

export function changedRepositories(task: Task, gitStatus: GitStatusState): ChangedRepository[] {
  return task.environments.flatMap((environment) =>
    environment.repositories.map((worktree) => {
      const repository = repositoryKey(worktree.repository_name);
      return {
        environmentId: environment.id,
        repository,
        worktree,
        held: gitStatus.byEnvironmentRepo[environment.id]?.[repository],
      };
    }),
  );
}

/** The sum over all repositories; `undefined` until every one is measured against a base, like the row's. */
export function totalsOf(
  repositories: readonly ChangedRepository[],
): { additions: number; deletions: number } | undefined {
  let additions = 0;
  let deletions = 0;
  for (const { held } of repositories) {
    if (!held?.status?.base_resolvable) return undefined;
    additions += held.status.additions;
    deletions += held.status.deletions;
  }
  return repositories.length === 0 ? undefined : { additions, deletions };
}

/** The oldest look decides how fresh the whole is. */
export function measuredAt(repositories: readonly ChangedRepository[]): string | undefined {
  const times = repositories.flatMap(({ held }) => (held?.status ? [held.status.timestamp] : []));
  return times.sort()[0];
}

export const KIND_LETTER: Record<FileChange["kind"], string> = {
  modified: "M",
  added: "A",
  deleted: "D",
  untracked: "U",
  renamed: "R",
};

/** The address form of a file: `repository:path`. */
export function fileKey(repository: string, path: string): string {
  return `${repository}:${path}`;
}
