import { type FormEvent, type KeyboardEvent, useState } from "react";
import { commands } from "~/app/runtime";
import { closeDialog } from "~/app/ui-actions";
import { useAppState } from "~/app/use-app-state";
import { useProfiles } from "~/features/task/use-profiles";
import { taskPlace } from "~/places/place";
import { go } from "~/places/use-place";
import { failureText } from "~/socket/requests";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { Field } from "~/ui/Field";
import { Kbd } from "~/ui/Kbd";
import { Notice } from "~/ui/Notice";
import { Switch } from "~/ui/Switch";
import { AgentPicker } from "./AgentPicker";
import { RepositoryPicker } from "./RepositoryPicker";
import { StepPicker } from "./StepPicker";
import { TITLE_MAX, titleFrom } from "./task-title";
import { useRepositories } from "./use-repositories";

/** Repository ids with the branch each starts from, in order: the first is the root. */
export type Chosen = ReadonlyArray<{ id: string; branch: string | undefined }>;

export function NewTaskDialog() {
  const workspaceId = useAppState((state) => state.workspaces.current);
  const repositories = useRepositories(workspaceId);
  const profiles = useProfiles(workspaceId);
  const [title, setTitle] = useState("");
  const [instructions, setInstructions] = useState("");
  const [chosen, setChosen] = useState<Chosen>(() => {
    const only = repositories.length === 1 ? repositories[0] : undefined;
    return only ? [{ id: only.id, branch: undefined }] : [];
  });
  const [profileId, setProfileId] = useState(profiles[0]?.id);
  const [stepId, setStepId] = useState<string>();
  const [start, setStart] = useState(profiles.length > 0);
  const [clientId] = useState(() => crypto.randomUUID());
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const name = title.trim() || titleFrom(instructions);
  const ready = name !== "" && workspaceId !== undefined && !busy;

  const create = async (event?: FormEvent) => {
    event?.preventDefault();
    if (!ready) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const task = await commands.createTask({
        workspace_id: workspaceId,
        client_id: clientId,
        title: name,
        description: instructions.trim(),
        repositories: chosen.map(({ id, branch }) => ({
          repository_id: id,
          ...(branch === undefined ? {} : { base_branch: branch }),
        })),
        environment: "own",
        start_agent: start,
        ...(stepId === undefined || start ? {} : { step_id: stepId }),
        ...(start && profileId ? { agent_profile_id: profileId } : {}),
        ...(start && instructions.trim() !== "" ? { prompt: instructions.trim() } : {}),
      });
      closeDialog();
      go(taskPlace(workspaceId, task.id));
    } catch (failure) {
      setProblem(failureText(failure));
      setBusy(false);
    }
  };
  const createByKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) void create();
  };
  return (
    <Dialog
      title="New task"
      onClose={closeDialog}
      footer={
        <>
          <span className="mr-auto text-muted text-xs max-sm:hidden">
            <Kbd>Ctrl</Kbd> <Kbd>↵</Kbd> creates it
          </span>
          <Button onClick={closeDialog}>Cancel</Button>
          <Button look="primary" type="submit" form="new-task" busy={busy} disabled={!ready}>
            {start ? "Create and start" : "Create task"}
          </Button>
        </>
      }
    >
      <form id="new-task" onSubmit={(event) => void create(event)} className="flex flex-col gap-4">
        <Field label="What should be done?">
          {(control) => (
            <textarea
              {...control}
              value={instructions}
              rows={3}
              onKeyDown={createByKey}
              onChange={(event) => setInstructions(event.target.value)}
              placeholder="The agent gets this as its first prompt."
              className="field min-h-20 resize-y leading-relaxed"
            />
          )}
        </Field>
        <Field label="Title" hint={title === "" && name !== "" ? "Taken from the first line." : undefined}>
          {(control) => (
            <input
              {...control}
              value={title}
              maxLength={TITLE_MAX}
              placeholder={titleFrom(instructions) || "A short name for the row"}
              onChange={(event) => setTitle(event.target.value)}
              className="field"
            />
          )}
        </Field>
        <RepositoryPicker repositories={repositories} chosen={chosen} onChange={setChosen} />
        <div className="grid items-start gap-4 sm:grid-cols-2">
          <div className="sm:pt-5.5">
            <Switch label="Start the agent now" checked={start} onChange={setStart} />
          </div>
          {start ? (
            <AgentPicker profiles={profiles} value={profileId} onChange={setProfileId} />
          ) : (
            <StepPicker value={stepId} onChange={setStepId} />
          )}
        </div>
        {problem && <Notice tone="error" title={problem} />}
      </form>
    </Dialog>
  );
}
