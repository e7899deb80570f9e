import type { Message } from "~/wire/generated/Message";

/** Something the agent said that this version has no picture for: kept, and shown as it came. */
export function UnknownUpdate({ message }: { message: Message }) {
  const raw = message.content || JSON.stringify(message.metadata, null, 2);
  return (
    <details className="text-faint text-xs">
      <summary className="w-fit rounded px-1 hover:text-muted">Other update from the agent</summary>
      <pre className="mt-1 max-h-52 overflow-auto whitespace-pre-wrap break-all rounded-lg border border-line bg-sunken p-2.5 font-mono text-[11.5px]">
        {raw}
      </pre>
    </details>
  );
}
