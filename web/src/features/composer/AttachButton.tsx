import { Paperclip } from "lucide-react";
import { useRef } from "react";
import { IconButton } from "~/ui/IconButton";

/** Chooses files of this machine. */
export function AttachButton({ disabled, onFiles }: { disabled: boolean; onFiles(files: File[]): void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton label="Attach files" disabled={disabled} onClick={() => input.current?.click()}>
        <Paperclip size={16} />
      </IconButton>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          // The same file may be chosen again after it was removed.
          event.target.value = "";
        }}
      />
    </>
  );
}
