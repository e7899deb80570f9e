import { useState } from "react";
import { fetchContent } from "~/socket/http";
import { failureText } from "~/socket/requests";
import { Button } from "~/ui/Button";

/** The text was cut for the wire; the whole of it is one click away. */
export function TruncationNote({ messageId }: { messageId: string }) {
  const [state, setState] = useState<"idle" | "loading" | { problem: string } | { text: string }>("idle");
  const load = () => {
    setState("loading");
    fetchContent(messageId).then(
      (text) => setState({ text }),
      (failure: unknown) => setState({ problem: failureText(failure) }),
    );
  };
  if (typeof state === "object" && "text" in state) {
    return (
      <pre className="mt-2 max-h-[70vh] overflow-auto whitespace-pre-wrap rounded-lg border border-line bg-sunken p-3 font-mono text-xs">
        {state.text}
      </pre>
    );
  }
  return (
    <p className="mt-2 flex items-center gap-2 text-muted text-xs">
      This text is long and was cut.
      <Button size="small" busy={state === "loading"} onClick={load}>
        Show all of it
      </Button>
      {typeof state === "object" && <span className="text-error">{state.problem}</span>}
    </p>
  );
}
