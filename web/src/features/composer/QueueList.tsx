import { CornerDownRight, Send, X } from "lucide-react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { useAppSelection, useAppState } from "~/app/use-app-state";
import { Button } from "~/ui/Button";
import { IconButton } from "~/ui/IconButton";

/** Prompts that wait for the agent, in the order they will be sent. */
export function QueueList({ sessionId }: { sessionId: string }) {
  const queued = useAppSelection((state) => {
    const transcript = state.transcripts.bySession[sessionId];
    return (transcript?.queue ?? []).map((id) => transcript?.rows[id]).filter((row) => row !== undefined);
  });
  // After a crash or a failed start the queue waits for a person; sending one of it starts it.
  const waits = useAppState((state) => {
    const session = state.sessions.byId[sessionId];
    return session !== undefined && session.state !== "RUNNING" && session.state !== "STARTING";
  });
  if (queued.length === 0) return null;
  return (
    <ol
      aria-label="Queued messages"
      className="mx-3 mb-[-1px] rounded-t-xl border border-line border-b-0 bg-sunken px-1.5 py-1"
    >
      {queued.map((message) => (
        <li key={message.id} className="flex items-center gap-2 pl-2 text-[13px] text-muted">
          <CornerDownRight size={13} className="text-faint" />
          <span className="min-w-0 flex-1 truncate">{message.content}</span>
          {waits || message.disposition === "undelivered" ? (
            <Button
              size="small"
              onClick={() => void attempt("The message was not sent", commands.resend(sessionId, message.id))}
            >
              <Send size={13} /> Send
            </Button>
          ) : (
            <span className="text-faint text-xs">queued</span>
          )}
          <IconButton
            label="Remove from queue"
            className="size-7"
            onClick={() =>
              void attempt("The message was not removed", commands.removeQueued(sessionId, message.id))
            }
          >
            <X size={14} />
          </IconButton>
        </li>
      ))}
    </ol>
  );
}
