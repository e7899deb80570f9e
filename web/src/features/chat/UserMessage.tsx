import { RotateCw, Send as SendIcon } from "lucide-react";
import type { ReactNode } from "react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import type { Send } from "~/store/transcripts";
import { Button } from "~/ui/Button";
import type { Message } from "~/wire/generated/Message";

/** What a person said, with its fate until it reached the agent. */
export function UserMessage({ message }: { message: Message }) {
  const again = () =>
    void attempt("The prompt was not sent", commands.resend(message.session_id, message.id));
  return (
    <Bubble text={message.content}>
      {message.disposition === "sending" && <span>Sending…</span>}
      {message.disposition === "queued" && <span>Queued</span>}
      {message.disposition === "uncertain" && (
        <>
          <span className="text-ask">The agent stopped before it was certain that this arrived.</span>
          <Button size="small" onClick={again}>
            <RotateCw size={13} /> Send again
          </Button>
        </>
      )}
      {message.disposition === "undelivered" && (
        <>
          <span className="text-ask">Not delivered.</span>
          <Button size="small" onClick={again}>
            <SendIcon size={13} /> Send
          </Button>
        </>
      )}
    </Bubble>
  );
}

interface PendingSendProps {
  send: Send;
  taskId: string;
  sessionId: string;
}

/** A prompt on its way from this page. "Unknown" is said only when looking for it found nothing. */
export function PendingSend({ send, taskId, sessionId }: PendingSendProps) {
  const again = () => void commands.send(taskId, sessionId, send.id, send.content);
  const discard = () => commands.forgetSend(sessionId, send.id);
  return (
    <Bubble text={send.content} faded={send.state === "sending"}>
      {send.state === "sending" && <span role="status">Sending…</span>}
      {send.state !== "sending" && (
        <>
          <span role="alert" className="text-error">
            {send.problem ?? "It is unknown whether the server has this."}
          </span>
          <Button size="small" onClick={again}>
            <RotateCw size={13} /> Try again
          </Button>
          <Button size="small" look="quiet" onClick={discard}>
            Discard
          </Button>
        </>
      )}
    </Bubble>
  );
}

function Bubble({ text, faded, children }: { text: string; faded?: boolean; children: ReactNode }) {
  return (
    <article aria-label="You" className="flex flex-col items-end gap-1.5 pl-[14%]">
      <div
        className={`max-w-full whitespace-pre-wrap rounded-2xl rounded-br-md bg-accent-soft px-3.5 py-2.5 text-[14.5px] leading-relaxed [overflow-wrap:anywhere] max-sm:text-[15.5px] ${faded ? "opacity-60" : ""}`}
      >
        {text}
      </div>
      <div className="flex flex-wrap items-center justify-end gap-2 text-muted text-xs empty:hidden">
        {children}
      </div>
    </article>
  );
}
