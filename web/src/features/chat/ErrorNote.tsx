import { Notice } from "~/ui/Notice";
import type { Message } from "~/wire/generated/Message";

export function ErrorNote({ message }: { message: Message }) {
  const [title = "", ...rest] = message.content.split("\n");
  const detail = rest.join("\n").trim();
  return (
    <Notice tone="error" title={title}>
      {detail && (
        <pre className="mt-1 max-h-52 overflow-auto whitespace-pre-wrap font-mono text-[11.5px]">
          {detail}
        </pre>
      )}
    </Notice>
  );
}
