import type { Message } from "~/wire/generated/Message";

/** A remark of the server between the lines: resumed, stopped, a new agent session. */
export function StatusNote({ message }: { message: Message }) {
  return (
    <p className="flex items-center gap-3 text-center text-faint text-xs before:h-px before:min-w-4 before:flex-1 before:bg-line after:h-px after:min-w-4 after:flex-1 after:bg-line">
      {message.content}
    </p>
  );
}
