import { Paperclip } from "lucide-react";
import { type DragEvent, type ReactNode, useState } from "react";

interface DropAreaProps {
  disabled: boolean;
  onFiles(files: File[]): void;
  children: ReactNode;
}

/** The conversation as a place to drop files on. Only files are taken: dragged text goes where it is dropped. */
export function DropArea({ disabled, onFiles, children }: DropAreaProps) {
  /** Entered and left elements; the area is left when all are. */
  const [depth, setDepth] = useState(0);
  const carriesFiles = (event: DragEvent) => !disabled && event.dataTransfer.types.includes("Files");
  const enter = (event: DragEvent) => {
    if (carriesFiles(event)) setDepth((held) => held + 1);
  };
  const over = (event: DragEvent) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
  };
  const drop = (event: DragEvent) => {
    setDepth(0);
    if (!carriesFiles(event)) return;
    event.preventDefault();
    onFiles([...event.dataTransfer.files]);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the same is done by the button and by pasting.
    <div
      onDragEnter={enter}
      onDragOver={over}
      onDragLeave={(event) => carriesFiles(event) && setDepth((held) => Math.max(0, held - 1))}
      onDrop={drop}
      className="relative flex min-h-0 flex-1 flex-col"
    >
      {children}
      {depth > 0 && (
        <div className="pointer-events-none absolute inset-2 z-10 grid animate-fade place-items-center rounded-2xl border-2 border-accent border-dashed bg-accent-soft/85">
          <p className="flex items-center gap-2 font-semibold text-accent">
            <Paperclip size={18} /> Drop files to attach them
          </p>
        </div>
      )}
    </div>
  );
}
