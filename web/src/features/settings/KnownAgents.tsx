import { CircleCheck, Plus, RefreshCw } from "lucide-react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { useAppState } from "~/app/use-app-state";
import { useProfiles } from "~/features/task/use-profiles";
import { Button } from "~/ui/Button";
import { CopyButton } from "~/ui/CopyButton";
import { IconButton } from "~/ui/IconButton";
import type { KnownAgent } from "~/wire/generated/KnownAgent";
import { fieldsOfKnown } from "./profile-fields";

/** Agents this version knows: the ones found on the server to add, the others with how to install them. */
export function KnownAgents({ workspaceId }: { workspaceId: string }) {
  const known = useAppState((state) => state.workspaces.knownAgents);
  const profiles = useProfiles(workspaceId);
  const refresh = () => void attempt("The server did not look", commands.refreshKnownAgents());
  return (
    <div>
      <h2 className="mb-2 flex items-center gap-1 font-semibold text-[15px]">
        Known agents
        <IconButton label="Look again" onClick={refresh}>
          <RefreshCw size={14} />
        </IconButton>
      </h2>
      <ul aria-label="Known agents" className="divide-y divide-line rounded-xl border border-line">
        {known.map((agent) => (
          <KnownAgentRow
            key={agent.id}
            agent={agent}
            added={profiles.some((profile) => profile.command === agent.command)}
            workspaceId={workspaceId}
          />
        ))}
      </ul>
    </div>
  );
}

interface KnownAgentRowProps {
  agent: KnownAgent;
  added: boolean;
  workspaceId: string;
}

function KnownAgentRow({ agent, added, workspaceId }: KnownAgentRowProps) {
  const add = () =>
    void attempt("The agent was not added", commands.createProfile(workspaceId, fieldsOfKnown(agent)));
  return (
    <li className="flex min-h-12 items-center gap-3 px-4 py-2">
      <div className="min-w-0 flex-1">
        <p className={agent.installed ? "font-medium" : "text-muted"}>{agent.name}</p>
        {!agent.installed && (
          <p className="flex min-w-0 items-center gap-1 text-muted text-xs">
            <code className="truncate font-mono text-[11.5px]">{agent.install_hint}</code>
            <CopyButton
              text={agent.install_hint}
              label={`Copy how to install ${agent.name}`}
              className="size-6.5"
            />
          </p>
        )}
      </div>
      {added && (
        <span className="flex items-center gap-1.5 text-muted text-xs">
          <CircleCheck size={14} className="text-review" /> Added
        </span>
      )}
      {!added && agent.installed && (
        <Button size="small" onClick={add}>
          <Plus size={14} /> Add
        </Button>
      )}
      {!added && !agent.installed && <span className="text-faint text-xs">not found</span>}
    </li>
  );
}
