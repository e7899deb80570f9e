import { useAppSelection } from "~/app/use-app-state";
import type { Repository } from "~/wire/generated/Repository";

/** The registered repositories of a workspace by name. */
export function useRepositories(workspaceId: string | undefined): Repository[] {
  return useAppSelection((state) =>
    Object.values(state.workspaces.repositories)
      .filter((repository) => repository.workspace_id === workspaceId)
      .sort((a, b) => a.name.localeCompare(b.name)),
  );
}
