import type { AgentCommandInfo } from "~/wire/generated/AgentCommandInfo";

interface CommandListProps {
  matches: AgentCommandInfo[];
  marked: number;
  onPick(command: AgentCommandInfo): void;
}

/** The agent's own slash commands, above the field. */
export function CommandList({ matches, marked, onPick }: CommandListProps) {
  return (
    <ul
      aria-label="Commands"
      className="absolute inset-x-0 bottom-full z-10 mb-2 max-h-72 animate-rise overflow-auto rounded-xl bg-raised p-1 shadow-float"
    >
      {matches.map((command, index) => (
        <li key={command.name}>
          <button
            type="button"
            aria-current={index === marked}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => onPick(command)}
            className={`flex w-full items-baseline gap-3 rounded-lg px-2.5 py-1.5 text-left text-[13px] ${index === marked ? "bg-hover" : "hover:bg-hover"}`}
          >
            <span className="shrink-0 font-medium font-mono text-xs">/{command.name}</span>
            <span className="truncate text-muted">{command.description}</span>
            {command.hint && <span className="ml-auto shrink-0 text-faint text-xs">{command.hint}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}
