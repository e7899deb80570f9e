import { Play } from "lucide-react";
import { type FormEvent, useState } from "react";
import { commands } from "~/app/runtime";
import { titleFrom } from "~/features/new-task/task-title";
import { DEMO_COMMAND } from "~/features/settings/profile-fields";
import { taskPlace } from "~/places/place";
import { go } from "~/places/use-place";
import { failureText } from "~/socket/requests";
import { Button } from "~/ui/Button";
import { Field } from "~/ui/Field";
import type { AgentProfile } from "~/wire/generated/AgentProfile";
import type { Repository } from "~/wire/generated/Repository";

interface FirstTaskProps {
  workspaceId: string;
  repositories: Repository[];
  profiles: AgentProfile[];
}

export function FirstTask({ workspaceId, repositories, profiles }: FirstTaskProps) {
  const [prompt, setPrompt] = useState("Add a short section about how to run the tests to the README.");
  const [clientId] = useState(() => crypto.randomUUID());
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const repository = repositories[0];
  // An agent added by hand says more than the one that was there.
  const profile = profiles.find(({ command }) => command !== DEMO_COMMAND) ?? profiles[0];
  const start = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      const task = await commands.createTask({
        workspace_id: workspaceId,
        client_id: clientId,
        title: titleFrom(prompt),
        description: prompt.trim(),
        repositories: repository ? [{ repository_id: repository.id }] : [],
        environment: "own",
        start_agent: true,
        prompt: prompt.trim(),
        ...(profile ? { agent_profile_id: profile.id } : {}),
      });
      go(taskPlace(workspaceId, task.id));
    } catch (failure) {
      setProblem(failureText(failure));
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void start(event)} className="flex flex-col gap-3">
      <Field
        label="What should be done?"
        problem={problem}
        hint={`${profile?.name ?? "The agent"} works on a branch of its own in ${repository?.name ?? "the repository"}.`}
      >
        {(control) => (
          <textarea
            {...control}
            rows={3}
            value={prompt}
            onChange={(event) => setPrompt(event.target.value)}
            className="field leading-relaxed"
          />
        )}
      </Field>
      <div>
        <Button look="primary" type="submit" busy={busy} disabled={prompt.trim() === ""}>
          <Play size={14} fill="currentColor" /> Start the first task
        </Button>
      </div>
    </form>
  );
}
