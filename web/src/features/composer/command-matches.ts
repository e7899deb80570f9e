import type { AgentCommandInfo } from "~/wire/generated/AgentCommandInfo";

/** A list longer than this is not read; typing one more letter is quicker. */
const SHOWN = 8;

/** The slash commands that complete what is typed; none once a space follows the name. */
export function commandMatches(text: string, commands: readonly AgentCommandInfo[]): AgentCommandInfo[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  const starting = commands.filter((command) => command.name.toLowerCase().startsWith(typed));
  const containing = commands.filter(
    (command) => !starting.includes(command) && command.name.toLowerCase().includes(typed),
  );
  return [...starting, ...containing].slice(0, SHOWN);
}
