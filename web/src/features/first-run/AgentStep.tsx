import { Bot } from "lucide-react";
import { useState } from "react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { useAppState } from "~/app/use-app-state";
import { DEMO_COMMAND, fieldsOfKnown } from "~/features/settings/profile-fields";
import { useProfiles } from "~/features/task/use-profiles";
import { Button } from "~/ui/Button";
import type { AgentProfileFields } from "~/wire/generated/AgentProfileFields";

const DEMO: AgentProfileFields = { name: "Demo agent", command: DEMO_COMMAND, args: [], env: {} };

/** Agents found on the server that are not added yet, and the demo agent that is always there. */
export function AgentStep({ workspaceId }: { workspaceId: string }) {
  const profiles = useProfiles(workspaceId);
  const known = useAppState((state) => state.workspaces.knownAgents);
  const [busy, setBusy] = useState<string>();
  const installed = known.filter((agent) => agent.installed && agent.command !== DEMO_COMMAND);
  const missing = known.filter((agent) => !agent.installed);
  const add = async (fields: AgentProfileFields) => {
    setBusy(fields.name);
    await attempt("The agent was not added", commands.createProfile(workspaceId, fields));
    setBusy(undefined);
  };
  const added = new Set(profiles.map((profile) => profile.command));
  const offered = [...installed.map(fieldsOfKnown), DEMO].filter(({ command }) => !added.has(command));
  return (
    <div className="flex flex-col gap-3">
      <p className="text-[13.5px] text-muted">
        {installed.length > 0
          ? "Found on the server:"
          : "No other agent was found on the server. The demo agent shows everything without one."}
      </p>
      <div className="flex flex-wrap gap-2">
        {offered.map((fields, index) => (
          <Button
            key={fields.name}
            look={index === 0 && added.size === 0 ? "primary" : "plain"}
            busy={busy === fields.name}
            onClick={() => void add(fields)}
          >
            <Bot size={15} /> {fields.command === DEMO_COMMAND ? "Use the demo agent" : `Use ${fields.name}`}
          </Button>
        ))}
      </div>
      {missing.length > 0 && (
        <details className="text-[13px] text-muted">
          <summary className="w-fit hover:text-text">Install another agent</summary>
          <ul className="mt-2 flex flex-col gap-1.5">
            {missing.map((agent) => (
              <li key={agent.id} className="flex flex-wrap gap-x-3">
                <span className="w-32 shrink-0 text-text">{agent.name}</span>
                <code className="font-mono text-xs">{agent.install_hint}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
