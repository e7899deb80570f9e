import { type FormEvent, useState } from "react";
import { commands } from "~/app/runtime";
import { failureText } from "~/socket/requests";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { Field } from "~/ui/Field";
import { Notice } from "~/ui/Notice";
import type { AgentProfileFields } from "~/wire/generated/AgentProfileFields";
import { argsText, envText, parseArgs, parseEnv } from "./profile-fields";

interface ProfileDialogProps {
  workspaceId: string;
  /** `undefined`: a new one. */
  profileId: string | undefined;
  fields: AgentProfileFields;
  onClose(): void;
}

/** How one agent is started. */
export function ProfileDialog({ workspaceId, profileId, fields, onClose }: ProfileDialogProps) {
  const [name, setName] = useState(fields.name);
  const [command, setCommand] = useState(fields.command);
  const [args, setArgs] = useState(argsText(fields.args));
  const [env, setEnv] = useState(envText(fields.env));
  const [mode, setMode] = useState(fields.default_mode ?? "");
  const [model, setModel] = useState(fields.default_model ?? "");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const parsed = parseEnv(env);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (!("env" in parsed)) return;
    const next: AgentProfileFields = {
      name: name.trim(),
      command: command.trim(),
      args: parseArgs(args),
      env: parsed.env,
      ...(mode.trim() === "" ? {} : { default_mode: mode.trim() }),
      ...(model.trim() === "" ? {} : { default_model: model.trim() }),
    };
    setBusy(true);
    try {
      if (profileId === undefined) await commands.createProfile(workspaceId, next);
      else await commands.updateProfile(profileId, next);
      onClose();
    } catch (failure) {
      setProblem(failureText(failure));
      setBusy(false);
    }
  };
  const mono = "field font-mono text-[13px]";
  return (
    <Dialog
      title={profileId === undefined ? "Add an agent" : "Edit agent"}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            type="submit"
            form="profile"
            busy={busy}
            disabled={name.trim() === "" || command.trim() === "" || !("env" in parsed)}
          >
            Save
          </Button>
        </>
      }
    >
      <form id="profile" onSubmit={(event) => void save(event)} className="flex flex-col gap-4">
        <Field label="Name">
          {(control) => (
            <input {...control} value={name} onChange={(e) => setName(e.target.value)} className="field" />
          )}
        </Field>
        <Field label="Command" hint="A program on the server's PATH, or a full path.">
          {(control) => (
            <input
              {...control}
              value={command}
              spellCheck={false}
              onChange={(e) => setCommand(e.target.value)}
              className={mono}
            />
          )}
        </Field>
        <Field label="Arguments" hint="One per line, taken as they are.">
          {(control) => (
            <textarea
              {...control}
              rows={3}
              value={args}
              onChange={(e) => setArgs(e.target.value)}
              className={mono}
            />
          )}
        </Field>
        <Field
          label="Environment"
          hint="NAME=value per line, added to the agent's environment."
          problem={"wrongLine" in parsed ? `Not NAME=value: ${parsed.wrongLine}` : undefined}
        >
          {(control) => (
            <textarea
              {...control}
              rows={3}
              value={env}
              onChange={(e) => setEnv(e.target.value)}
              className={mono}
            />
          )}
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Mode" hint="Empty: the mode that asks first, in agents known to have one.">
            {(control) => (
              <input {...control} value={mode} onChange={(e) => setMode(e.target.value)} className={mono} />
            )}
          </Field>
          <Field label="Model" hint="Empty: the agent's own choice.">
            {(control) => (
              <input {...control} value={model} onChange={(e) => setModel(e.target.value)} className={mono} />
            )}
          </Field>
        </div>
        {problem && <Notice tone="error" title={problem} />}
      </form>
    </Dialog>
  );
}
