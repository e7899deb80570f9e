import { ChevronDown } from "lucide-react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { useAppState } from "~/app/use-app-state";
import { Menu, MenuChoices, MenuHeading } from "~/ui/Menu";
import type { AgentChoice } from "~/wire/generated/AgentChoice";

/** Model, mode and further options, as far as the agent offers them; kept while no process lives. */
export function AgentSelectors({ sessionId }: { sessionId: string }) {
  const report = useAppState((state) => state.sessions.reports[sessionId]);
  if (!report) return null;
  const set = (what: string, work: Promise<void>) => void attempt(`The ${what} was not changed`, work);
  return (
    <div className="flex min-w-0 items-center overflow-hidden">
      <Selector
        label="Model"
        choices={report.models}
        current={report.currentModel}
        onChange={(model) => set("model", commands.setModel(sessionId, model))}
      />
      <Selector
        label="Mode"
        choices={report.modes}
        current={report.currentMode}
        onChange={(mode) => set("mode", commands.setMode(sessionId, mode))}
      />
      {report.options.map((option) => (
        <Selector
          key={option.id}
          label={option.name}
          choices={option.choices}
          current={option.current}
          onChange={(value) => set("option", commands.setOption(sessionId, option.id, value))}
        />
      ))}
    </div>
  );
}

interface SelectorProps {
  label: string;
  choices: AgentChoice[];
  current: string | undefined;
  onChange(id: string): void;
}

function Selector({ label, choices, current, onChange }: SelectorProps) {
  if (choices.length === 0) return null;
  const name = choices.find((choice) => choice.id === current)?.name ?? current ?? label;
  return (
    <Menu
      side="top"
      trigger={
        <button
          type="button"
          className="flex h-8 min-w-0 items-center gap-1 rounded-lg px-2 text-[12.5px] text-muted hover:bg-hover hover:text-text max-sm:h-11"
        >
          <span className="sr-only">{label}: </span>
          <span className="truncate">{name}</span>
          <ChevronDown size={13} className="text-faint" />
        </button>
      }
    >
      <MenuHeading>{label}</MenuHeading>
      <MenuChoices value={current} onChange={onChange} choices={choices} />
    </Menu>
  );
}
