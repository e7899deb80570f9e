import { Bot, CircleAlert } from "lucide-react";
import { useState } from "react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { useAppState } from "~/app/use-app-state";
import { categoryName } from "~/rows/row-words";
import { summaryOf } from "~/store/tasks";
import { Button } from "~/ui/Button";
import { EmptyState } from "~/ui/EmptyState";
import type { Task } from "~/wire/generated/Task";
import { RecoveryButtons } from "./RecoveryButtons";
import { useProfiles } from "./use-profiles";

/** A task no agent works on yet: start one, or see why the start failed. */
export function NoSession({ task }: { task: Task }) {
  const error = useAppState((state) => summaryOf(state.tasks, task.id)?.active_error);
  const listed = useAppState((state) => state.sessions.listed[task.id]);
  const profiles = useProfiles(task.workspace_id);
  const [busy, setBusy] = useState(false);
  const launch = async (profileId: string) => {
    setBusy(true);
    await attempt("The agent did not start", commands.launchSession(task.id, crypto.randomUUID(), profileId));
    setBusy(false);
  };
  if (error) {
    return (
      <EmptyState
        icon={<CircleAlert size={20} className="text-error" />}
        title={categoryName(error.category)}
        action={<RecoveryButtons taskId={task.id} error={error} />}
      >
        <p role="alert" className="break-words">
          {error.preview}
        </p>
      </EmptyState>
    );
  }
  if (task.state === "SCHEDULING" || !listed) {
    return (
      <EmptyState
        icon={<Bot size={20} className="animate-breathe" />}
        title={listed ? "Preparing" : "Opening"}
      >
        {listed ? "The worktree is made and the agent starts." : "Asking for the sessions of this task."}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={<Bot size={20} />}
      title="No agent works on this yet"
      action={
        <div className="flex flex-wrap justify-center gap-2">
          {profiles.map((profile, index) => (
            <Button
              key={profile.id}
              look={index === 0 ? "primary" : "plain"}
              busy={busy}
              onClick={() => void launch(profile.id)}
            >
              Start {profile.name}
            </Button>
          ))}
        </div>
      }
    >
      {task.description || "Start an agent in a worktree of this task."}
    </EmptyState>
  );
}
