/** The form of an agent profile: what is typed, and what it means. */
import type { AgentProfile } from "~/wire/generated/AgentProfile";
import type { AgentProfileFields } from "~/wire/generated/AgentProfileFields";
import type { KnownAgent } from "~/wire/generated/KnownAgent";

/** The command that means the agent built into the server. */
export const DEMO_COMMAND = "flightstrip:demo-agent";

export const emptyProfile: AgentProfileFields = { name: "", command: "", args: [], env: {} };

export function fieldsOf(profile: AgentProfile): AgentProfileFields {
  const { id: _id, workspace_id: _workspace, revision: _revision, ...fields } = profile;
  return fields;
}

export function fieldsOfKnown(agent: KnownAgent): AgentProfileFields {
  return { name: agent.name, command: agent.command, args: agent.args, env: {} };
}

/** The command as one would type it, for reading only. */
export function commandLine(profile: Pick<AgentProfileFields, "command" | "args">): string {
  if (profile.command === DEMO_COMMAND) return "built in";
  return [profile.command, ...profile.args].map(quoted).join(" ");
}

function quoted(word: string): string {
  return word === "" || /\s/.test(word) ? JSON.stringify(word) : word;
}

/** One argument per line: no quoting rules to know. */
export function argsText(args: readonly string[]): string {
  return args.join("\n");
}

export function parseArgs(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** `NAME=value` per line. */
export function envText(env: AgentProfileFields["env"]): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value ?? ""}`)
    .join("\n");
}

/** The variables, or the first line that is none. */
export function parseEnv(text: string): { env: Record<string, string> } | { wrongLine: string } {
  const env: Record<string, string> = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const match = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line.trim());
    if (!match?.[1]) return { wrongLine: line };
    env[match[1]] = match[2] ?? "";
  }
  return { env };
}
