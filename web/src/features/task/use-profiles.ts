import { useAppSelection } from "~/app/use-app-state";
import type { AgentProfile } from "~/wire/generated/AgentProfile";

/** The agents of a workspace, in the order they were made. */
export function useProfiles(workspaceId: string | undefined): AgentProfile[] {
  return useAppSelection((state) =>
    Object.values(state.workspaces.profiles)
      .filter((profile) => profile.workspace_id === workspaceId)
      .sort((a, b) => a.id.localeCompare(b.id)),
  );
}
