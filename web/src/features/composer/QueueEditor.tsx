import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useLayout } from "~/app/use-layout";
import { Button } from "~/ui/Button";

interface QueueEditorProps {
  initial: string;
  /** What stands in the field now, when it differs from what was there. */
  onTyped(text: string): void;
  /** The new words, or nothing when the change was given up. */
  onDone(text: string | undefined): void;
}

/** The words of a queued prompt, changed in place. */
export function QueueEditor({ initial, onTyped, onDone }: QueueEditorProps) {
  const [text, setText] = useState(initial);
  const field = useRef<HTMLTextAreaElement>(null);
  const layout = useLayout();
  useEffect(() => field.current?.focus(), []);
  const empty = text.trim() === "";
  const save = () => {
    if (!empty) onDone(text.trim());
  };
  const pressKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      onDone(undefined);
    } else if (event.key === "Enter" && !event.shiftKey && layout !== "phone") {
      event.preventDefault();
      save();
    }
  };
  return (
    <div className="flex flex-col gap-1.5 p-1.5">
      <textarea
        ref={field}
        aria-label="Queued message"
        value={text}
        rows={2}
        onChange={(event) => {
          setText(event.target.value);
          onTyped(event.target.value);
        }}
        onKeyDown={pressKey}
        className="field field-sizing-content max-h-50 resize-none leading-relaxed"
      />
      <div className="flex justify-end gap-1.5">
        <Button size="small" look="quiet" onClick={() => onDone(undefined)}>
          Cancel
        </Button>
        <Button size="small" look="primary" disabled={empty} onClick={save}>
          Save
        </Button>
      </div>
    </div>
  );
}
