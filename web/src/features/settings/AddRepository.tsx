import { FolderGit2, FolderSearch, GitBranch, Plus } from "lucide-react";
import { type FormEvent, useState } from "react";
import { commands } from "~/app/runtime";
import { useAnswer } from "~/app/use-answer";
import { counted } from "~/format/numbers";
import { failureText } from "~/socket/requests";
import { Button } from "~/ui/Button";
import { Field } from "~/ui/Field";
import type { Repository } from "~/wire/generated/Repository";
import type { RepositoryFacts } from "~/wire/generated/RepositoryFacts";

interface AddRepositoryProps {
  workspaceId: string;
  onAdded?(repository: Repository): void;
}

/** A folder on the server, looked at before it is registered. */
export function AddRepository({ workspaceId, onAdded }: AddRepositoryProps) {
  const [path, setPath] = useState("");
  const [facts, setFacts] = useState<RepositoryFacts>();
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);

  const run = async (work: () => Promise<void>) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
    } catch (failure) {
      setProblem(failureText(failure));
    }
    setBusy(false);
  };
  const inspect = (folder: string) =>
    run(async () => {
      setFacts(undefined);
      setFacts(await commands.inspectRepository(workspaceId, folder));
    });
  const add = () =>
    run(async () => {
      if (!facts) return;
      const repository = await commands.addRepository(workspaceId, facts.path);
      setPath("");
      setFacts(undefined);
      onAdded?.(repository);
    });
  const look = (event: FormEvent) => {
    event.preventDefault();
    if (path.trim() !== "") void inspect(path.trim());
  };
  return (
    <div className="flex flex-col gap-3">
      <form onSubmit={look}>
        <Field
          label="Folder on the server"
          problem={problem}
          hint="For example ~/code/api. It must be a Git repository."
        >
          {(control) => (
            <div className="flex gap-2">
              <input
                {...control}
                value={path}
                spellCheck={false}
                autoComplete="off"
                placeholder="~/code/api"
                onChange={(event) => {
                  setPath(event.target.value);
                  setFacts(undefined);
                  setProblem(undefined);
                }}
                className="field font-mono text-[13px]"
              />
              <Button type="submit" busy={busy && !facts} disabled={path.trim() === ""} className="h-auto">
                <FolderSearch size={15} /> Look
              </Button>
            </div>
          )}
        </Field>
      </form>
      {facts && (
        <div className="flex animate-rise items-center gap-3 rounded-xl border border-line bg-bg px-4 py-3">
          <FolderGit2 size={18} className="text-review" />
          <div className="min-w-0 flex-1">
            <p className="font-medium">{facts.name}</p>
            <p className="truncate font-mono text-[11.5px] text-muted">{facts.path}</p>
            <p className="mt-0.5 flex items-center gap-1.5 text-muted text-xs">
              <GitBranch size={12} /> {factWords(facts)}
            </p>
          </div>
          <Button look="primary" busy={busy} onClick={() => void add()}>
            <Plus size={15} /> Add
          </Button>
        </div>
      )}
      {!facts && (
        <Suggestions
          workspaceId={workspaceId}
          onPick={(folder) => {
            setPath(folder);
            void inspect(folder);
          }}
        />
      )}
    </div>
  );
}

function factWords(facts: RepositoryFacts): string {
  if (facts.is_empty) return "no commit yet";
  return `${facts.default_branch ?? "no default branch"} · ${counted(facts.branches.length, "branch", "branches")}`;
}

function Suggestions({ workspaceId, onPick }: { workspaceId: string; onPick(path: string): void }) {
  const answer = useAnswer(() => commands.suggestRepositories(workspaceId), workspaceId);
  if (answer.state !== "answered" || answer.value.length === 0) return null;
  return (
    <div>
      <p className="mb-1.5 text-muted text-xs">Found on the server</p>
      <ul aria-label="Suggested folders" className="flex flex-wrap gap-1.5">
        {answer.value.map((path) => (
          <li key={path}>
            <button
              type="button"
              onClick={() => onPick(path)}
              title={path}
              className="flex h-7 max-w-72 items-center gap-1.5 rounded-full border border-line bg-bg px-3 text-[12.5px] hover:border-line-strong hover:bg-hover max-sm:h-11"
            >
              <FolderGit2 size={13} className="text-muted" />
              <span className="truncate">{path.split("/").at(-1)}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
