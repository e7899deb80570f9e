/**
 * The lines an agent's edit removes and adds: what is common at both ends is left out. An announcement is small and
 * local; the Changes pane shows Git's own diff.
 */
import type { FileEdit } from "~/wire/generated/FileEdit";

export interface EditLines {
  removed: string[];
  added: string[];
}

export function editLines(edit: FileEdit): EditLines {
  const before = linesOf(edit.old_text ?? "");
  const after = linesOf(edit.new_text);
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end += 1;
  }
  return { removed: before.slice(start, before.length - end), added: after.slice(start, after.length - end) };
}

/** A line break ends a line; it does not begin another. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

export function editTotals(edits: readonly FileEdit[]): { additions: number; deletions: number } | undefined {
  if (edits.length === 0) return undefined;
  const lines = edits.map(editLines);
  return {
    additions: lines.reduce((sum, edit) => sum + edit.added.length, 0),
    deletions: lines.reduce((sum, edit) => sum + edit.removed.length, 0),
  };
}
