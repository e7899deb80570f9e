import { Bot, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { useAppState } from "~/app/use-app-state";
import { useProfiles } from "~/features/task/use-profiles";
import { Button } from "~/ui/Button";
import { IconButton } from "~/ui/IconButton";
import type { AgentProfile } from "~/wire/generated/AgentProfile";
import type { AgentProfileFields } from "~/wire/generated/AgentProfileFields";
import { KnownAgents } from "./KnownAgents";
import { ProfileDialog } from "./ProfileDialog";
import { commandLine, emptyProfile, fieldsOf } from "./profile-fields";

type Editing = { profileId: string | undefined; fields: AgentProfileFields };

export function AgentsSection() {
  const workspaceId = useAppState((state) => state.workspaces.current);
  const profiles = useProfiles(workspaceId);
  const [editing, setEditing] = useState<Editing>();
  if (!workspaceId) return null;
  return (
    <div className="flex flex-col gap-6">
      <p className="text-[13.5px] text-muted">
        How agents are started. Any program that speaks the Agent Client Protocol on its standard input and
        output will do.
      </p>
      {profiles.length > 0 && (
        <ul aria-label="Agents" className="divide-y divide-line rounded-xl border border-line">
          {profiles.map((profile) => (
            <ProfileRow
              key={profile.id}
              profile={profile}
              onEdit={() => setEditing({ profileId: profile.id, fields: fieldsOf(profile) })}
            />
          ))}
        </ul>
      )}
      <div>
        <Button onClick={() => setEditing({ profileId: undefined, fields: emptyProfile })}>
          <Plus size={15} /> Add another agent
        </Button>
      </div>
      <KnownAgents workspaceId={workspaceId} />
      {editing && (
        <ProfileDialog workspaceId={workspaceId} {...editing} onClose={() => setEditing(undefined)} />
      )}
    </div>
  );
}

function ProfileRow({ profile, onEdit }: { profile: AgentProfile; onEdit(): void }) {
  const remove = () => void attempt("The agent was not removed", commands.deleteProfile(profile.id));
  return (
    <li className="flex items-center gap-3 px-4 py-3">
      <Bot size={17} className="text-muted" />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{profile.name}</p>
        <p className="truncate font-mono text-[11.5px] text-muted">{commandLine(profile)}</p>
      </div>
      <IconButton label={`Edit ${profile.name}`} onClick={onEdit}>
        <Pencil size={15} />
      </IconButton>
      <IconButton label={`Remove ${profile.name}`} onClick={remove}>
        <Trash2 size={15} />
      </IconButton>
    </li>
  );
}
