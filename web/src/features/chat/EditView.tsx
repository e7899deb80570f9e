import type { FileEdit } from "~/wire/generated/FileEdit";
import { editLines } from "./edit-lines";

/** More than this is for the Changes pane. */
const LINES_SHOWN = 80;

/** An edit as the agent announced it. */
export function EditView({ edit }: { edit: FileEdit }) {
  const { removed, added } = editLines(edit);
  const lines = [
    ...removed.map((text) => ({ sign: "−", text, look: "bg-(--del-bg)", ink: "text-del" })),
    ...added.map((text) => ({ sign: "+", text, look: "bg-(--add-bg)", ink: "text-add" })),
  ];
  const hidden = lines.length - LINES_SHOWN;
  return (
    <div className="not-first:border-t not-first:border-line">
      <p className="break-all px-3 py-1.5 font-mono text-[11.5px] text-muted">{edit.path}</p>
      <div className="overflow-x-auto pb-1.5 font-mono text-xs leading-relaxed">
        {lines.slice(0, LINES_SHOWN).map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of one edit never move.
          <div key={index} className={`flex min-w-max pr-3 ${line.look}`}>
            <span aria-hidden="true" className={`w-7 shrink-0 text-center ${line.ink}`}>
              {line.sign}
            </span>
            <span className="whitespace-pre">{line.text || " "}</span>
          </div>
        ))}
      </div>
      {hidden > 0 && (
        <p className="px-3 pb-2 text-faint text-xs">{hidden} more lines. The Changes pane has them all.</p>
      )}
    </div>
  );
}
