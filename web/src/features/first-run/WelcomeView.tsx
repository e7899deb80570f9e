import { Bot, Check, FolderGit2, Sparkles } from "lucide-react";
import type { ReactNode } from "react";
import { useAppState } from "~/app/use-app-state";
import { useRepositories } from "~/features/new-task/use-repositories";
import { AddRepository } from "~/features/settings/AddRepository";
import { DEMO_COMMAND } from "~/features/settings/profile-fields";
import { BrandMark } from "~/features/switcher/BrandMark";
import { useProfiles } from "~/features/task/use-profiles";
import { AgentStep } from "./AgentStep";
import { FirstTask } from "./FirstTask";

/** The first minute: an agent, a repository, a task. Each step opens the next. */
export function WelcomeView() {
  const workspaceId = useAppState((state) => state.workspaces.current);
  const profiles = useProfiles(workspaceId);
  const repositories = useRepositories(workspaceId);
  if (!workspaceId) return null;
  const hasAgent = profiles.length > 0;
  const hasRepository = repositories.length > 0;
  const onlyDemo = profiles.every((profile) => profile.command === DEMO_COMMAND);
  return (
    <main className="min-h-0 flex-1 overflow-y-auto bg-surface">
      <div className="mx-auto flex max-w-160 flex-col px-6 py-[max(5vh,2rem)] max-sm:px-4 max-sm:py-6">
        <BrandMark className="h-10 w-14" />
        <h1 className="mt-5 font-[680] text-[28px] leading-tight tracking-[-0.025em] max-sm:text-2xl">
          Many agents. One look.
        </h1>
        <p className="mt-2 text-[15px] text-muted">
          Each task gets an agent and a worktree of its own. The list on the side tells which one needs you,
          what for, and since when.
        </p>
        <ol className="mt-8 flex flex-col">
          <Step
            number={1}
            icon={<Bot size={17} />}
            title="An agent"
            done={hasAgent ? profiles.map((profile) => profile.name).join(", ") : undefined}
            active={!hasAgent}
            open={onlyDemo}
          >
            <AgentStep workspaceId={workspaceId} />
          </Step>
          <Step
            number={2}
            icon={<FolderGit2 size={17} />}
            title="A repository"
            done={hasRepository ? repositories.map((repository) => repository.name).join(", ") : undefined}
            active={hasAgent && !hasRepository}
          >
            <AddRepository workspaceId={workspaceId} />
          </Step>
          <Step
            number={3}
            icon={<Sparkles size={17} />}
            title="The first task"
            done={undefined}
            active={hasAgent && hasRepository}
            last
          >
            <FirstTask workspaceId={workspaceId} repositories={repositories} profiles={profiles} />
          </Step>
        </ol>
      </div>
    </main>
  );
}

interface StepProps {
  number: number;
  icon: ReactNode;
  title: string;
  /** What was chosen, once it was. */
  done: string | undefined;
  active: boolean;
  /** Shows its choices although it is done. */
  open?: boolean;
  last?: boolean;
  children: ReactNode;
}

function Step({ number, icon, title, done, active, open, last, children }: StepProps) {
  const look = done
    ? "bg-review text-surface"
    : active
      ? "bg-accent text-on-accent"
      : "bg-sunken text-faint shadow-[inset_0_0_0_1px_var(--line-strong)]";
  return (
    <li aria-current={active ? "step" : undefined} className="flex gap-4">
      <div className="flex flex-col items-center">
        <span
          className={`num grid size-8 shrink-0 place-items-center rounded-full font-semibold text-[13px] ${look}`}
        >
          {done ? <Check size={16} strokeWidth={2.6} /> : number}
        </span>
        {!last && <span className="w-px flex-1 bg-line-strong" />}
      </div>
      <div className={`min-w-0 flex-1 ${last ? "" : "pb-7"}`}>
        <h2
          className={`flex min-h-8 items-center gap-2 font-semibold text-[15px] ${active || done ? "" : "text-muted"}`}
        >
          <span className="text-muted">{icon}</span>
          {title}
          {done && <span className="truncate font-normal text-[13.5px] text-muted">{done}</span>}
        </h2>
        {(active || open) && <div className="mt-3 animate-rise">{children}</div>}
      </div>
    </li>
  );
}
