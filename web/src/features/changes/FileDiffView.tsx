import { Columns2, Rows3 } from "lucide-react";
import { Fragment, useMemo, useRef, useState } from "react";
import { Decoration, Diff, Hunk, parseDiff } from "react-diff-view";
import { commands } from "~/app/runtime";
import { useAnswer } from "~/app/use-answer";
import type { RepositoryTarget } from "~/socket/commands";
import { Button } from "~/ui/Button";
import { IconButton } from "~/ui/IconButton";
import { DiffSkeleton } from "./DiffSkeleton";

const SKIP_WORDS: Record<string, string> = {
  binary: "Binary file: there are no lines to compare.",
  filtered: "The file is stored through a filter (Git LFS, say), so its lines are not compared.",
  source_too_large: "The file is too large to compare here.",
  diff_too_large: "The diff is too large to show here.",
  submodule: "A repository of its own: its lines are not compared.",
  unreadable: "The file cannot be read.",
};

/** Two columns need about this much room to be readable. */
const SPLIT_MIN_PX = 620;

interface FileDiffViewProps {
  target: RepositoryTarget;
  path: string;
  stamp: string;
}

/** The diff of one file against the base; loaded with the component that draws it. */
export function FileDiffView({ target, path, stamp }: FileDiffViewProps) {
  const answer = useAnswer(
    () => commands.diff(target, path),
    `${target.environmentId} ${target.repository} ${path} ${stamp}`,
  );
  const [split, setSplit] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  if (answer.state === "loading") return <DiffSkeleton />;
  if (answer.state === "failed") {
    return (
      <div className="m-3 flex items-center gap-3 rounded-xl border border-line bg-surface px-3 py-2.5 text-[13px]">
        <span className="min-w-0 flex-1 text-error">{answer.problem}</span>
        <Button size="small" onClick={answer.again}>
          Try again
        </Button>
      </div>
    );
  }
  const { patch, skipped } = answer.value;
  const roomy = (frame.current?.clientWidth ?? 0) >= SPLIT_MIN_PX;
  return (
    <div ref={frame} className="mx-3 my-2.5 overflow-hidden rounded-xl border border-line bg-surface">
      <div className="flex h-8.5 items-center border-line border-b pr-1 pl-3 text-muted text-xs">
        <span className="min-w-0 flex-1 truncate font-mono text-[11.5px]">{path.split("/").at(-1)}</span>
        {!skipped && (
          <IconButton
            label={split ? "Show in one column" : "Show side by side"}
            disabled={!split && !roomy && frame.current !== null}
            onClick={() => setSplit(!split)}
            className="size-7"
          >
            {split ? <Rows3 size={14} /> : <Columns2 size={14} />}
          </IconButton>
        )}
      </div>
      {skipped ? (
        <p className="px-3 py-3 text-[13px] text-muted">{SKIP_WORDS[skipped] ?? `Not shown: ${skipped}.`}</p>
      ) : (
        <Patch patch={patch} split={split} />
      )}
    </div>
  );
}

function Patch({ patch, split }: { patch: string; split: boolean }) {
  const files = useMemo(() => parsePatch(patch), [patch]);
  if (!files) return <pre className="overflow-auto p-3 font-mono text-xs">{patch}</pre>;
  if (files.every((file) => file.hunks.length === 0)) {
    return <p className="px-3 py-3 text-[13px] text-muted">Only the file's name or mode changed.</p>;
  }
  return (
    <div className="overflow-x-auto">
      {files.map((file) => (
        <Diff
          key={`${file.oldPath} ${file.newPath}`}
          viewType={split ? "split" : "unified"}
          diffType={file.type}
          hunks={file.hunks}
        >
          {(hunks) =>
            hunks.map((hunk) => (
              <Fragment key={hunk.content}>
                <Decoration>{hunk.content}</Decoration>
                <Hunk hunk={hunk} />
              </Fragment>
            ))
          }
        </Diff>
      ))}
    </div>
  );
}

/** A patch this version cannot read is shown as it is. */
function parsePatch(patch: string) {
  try {
    return parseDiff(patch);
  } catch {
    return undefined;
  }
}
