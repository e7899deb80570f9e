import { ChevronRight } from "lucide-react";
import { lazy, Suspense } from "react";
import type { Place } from "~/places/place";
import { go } from "~/places/use-place";
import type { RepositoryTarget } from "~/socket/commands";
import { ErrorBoundary } from "~/ui/ErrorBoundary";
import { Totals } from "~/ui/Totals";
import type { FileChange } from "~/wire/generated/FileChange";
import { fileKey, KIND_LETTER } from "./changed-repositories";
import { DiffSkeleton } from "./DiffSkeleton";

const FileDiffView = lazy(async () => ({ default: (await import("./FileDiffView")).FileDiffView }));

const LETTER_LOOK: Record<FileChange["kind"], string> = {
  modified: "text-ask",
  added: "text-add",
  untracked: "text-add",
  deleted: "text-del",
  renamed: "text-accent",
};

interface FileRowProps {
  file: FileChange;
  target: RepositoryTarget;
  place: Extract<Place, { kind: "task" }>;
  /** When the repository was measured: a newer look asks for a newer diff. */
  stamp: string;
}

/** A changed file; opened, its diff follows right below it. Which one is open is part of the address. */
export function FileRow({ file, target, place, stamp }: FileRowProps) {
  const key = fileKey(target.repository, file.path);
  const open = place.file === key;
  const slash = file.path.lastIndexOf("/") + 1;
  const toggle = () => go({ ...place, file: open ? undefined : key }, "replace");
  return (
    <li>
      <button
        type="button"
        aria-expanded={open}
        onClick={toggle}
        className={`flex min-h-8 w-full items-center gap-2.5 px-4 text-left text-[13px] max-sm:min-h-11 ${open ? "bg-surface shadow-[inset_2px_0_var(--accent)]" : "hover:bg-hover/70"}`}
      >
        <span title={file.kind} className={`w-3 shrink-0 font-mono text-[11px] ${LETTER_LOOK[file.kind]}`}>
          <span aria-hidden="true">{KIND_LETTER[file.kind]}</span>
          <span className="sr-only">{file.kind}</span>
        </span>
        <span
          className="flex min-w-0 flex-1"
          title={file.old_path ? `${file.old_path} → ${file.path}` : file.path}
        >
          <span className="truncate text-faint">{file.path.slice(0, slash)}</span>
          <span
            className={`max-w-full shrink-0 truncate ${file.kind === "deleted" ? "line-through decoration-faint" : ""}`}
          >
            {file.path.slice(slash)}
          </span>
        </span>
        {file.binary ? (
          <span className="shrink-0 text-faint text-xs">binary</span>
        ) : (
          <Totals additions={file.additions} deletions={file.deletions} className="text-xs" />
        )}
        <ChevronRight size={13} className={`text-faint transition-transform ${open ? "rotate-90" : ""}`} />
      </button>
      {open && (
        <ErrorBoundary>
          <Suspense fallback={<DiffSkeleton />}>
            <FileDiffView target={target} path={file.path} stamp={stamp} />
          </Suspense>
        </ErrorBoundary>
      )}
    </li>
  );
}
