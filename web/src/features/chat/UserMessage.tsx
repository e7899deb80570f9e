import { RotateCw, Send as SendIcon } from "lucide-react";
import type { ReactNode } from "react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { useAppSelection, useAppState } from "~/app/use-app-state";
import { addToDraft } from "~/features/composer/drafts";
import { counted } from "~/format/numbers";
import { isOver } from "~/store/sessions";
import type { Send } from "~/store/transcripts";
import { uploadsOf } from "~/store/uploads";
import { Button } from "~/ui/Button";
import type { Attachment } from "~/wire/generated/Attachment";
import type { Message } from "~/wire/generated/Message";
import { AttachmentLinks } from "./AttachmentLinks";

/** What a person said, with its fate until it reached the agent. */
export function UserMessage({ message }: { message: Message }) {
  const over = useAppState((state) => {
    const session = state.sessions.byId[message.session_id];
    return session !== undefined && isOver(session);
  });
  const again = () =>
    void attempt("The prompt was not sent", commands.resend(message.session_id, message.id));
  return (
    <Bubble text={message.content} attachments={message.attachments}>
      {message.disposition === "sending" && <span>Sending…</span>}
      {message.disposition === "queued" && <span>Queued</span>}
      {message.disposition === "uncertain" && (
        <>
          <span className="text-ask">The agent stopped before it was certain that this arrived.</span>
          {!over && (
            <Button size="small" onClick={again}>
              <RotateCw size={13} /> Send again
            </Button>
          )}
        </>
      )}
      {message.disposition === "undelivered" && (
        <>
          <span className="text-ask">Not delivered.</span>
          {!over && (
            <Button size="small" onClick={again}>
              <SendIcon size={13} /> Send
            </Button>
          )}
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
  const uploads = useAppSelection((state) => uploadsOf(state.uploads, send.files));
  const again = () => void commands.outbox.send(taskId, sessionId, send);
  const discard = () => commands.outbox.forget(sessionId, send);
  const edit = () => {
    commands.outbox.forget(sessionId, send, true);
    addToDraft(sessionId, send.content);
  };
  const underWay = send.state === "sending" || send.state === "uploading";
  const missing = uploads.filter(({ state }) => state !== "ready").length;
  return (
    <Bubble text={send.content} faded={underWay}>
      {uploads.length > 0 && (
        <span className="w-full text-right">{uploads.map(({ name }) => name).join(", ")}</span>
      )}
      {send.state === "sending" && <span role="status">Sending…</span>}
      {send.state === "uploading" && (
        <>
          <span role="status">
            {missing === 0 ? "Waiting for the message before…" : `Uploading ${counted(missing, "file")}…`}
          </span>
          <Button size="small" look="quiet" onClick={edit}>
            Cancel
          </Button>
        </>
      )}
      {!underWay && (
        <>
          <span role="alert" className="basis-full text-right text-error">
            {send.problem ?? "It is unknown whether the server has this."}
          </span>
          <Button size="small" onClick={again}>
            <RotateCw size={13} /> Try again
          </Button>
          {send.state === "refused" && (
            <Button size="small" onClick={edit}>
              Edit
            </Button>
          )}
          <Button size="small" look="quiet" onClick={discard}>
            Discard
          </Button>
        </>
      )}
    </Bubble>
  );
}

interface BubbleProps {
  text: string;
  attachments?: readonly Attachment[] | undefined;
  faded?: boolean;
  children: ReactNode;
}

function Bubble({ text, attachments, faded, children }: BubbleProps) {
  return (
    <article aria-label="You" className="flex flex-col items-end gap-1.5 pl-[14%]">
      {text !== "" && (
        <div
          className={`max-w-full whitespace-pre-wrap rounded-2xl rounded-br-md bg-accent-soft px-3.5 py-2.5 text-[14.5px] leading-relaxed [overflow-wrap:anywhere] max-sm:text-[15.5px] ${faded ? "opacity-60" : ""}`}
        >
          {text}
        </div>
      )}
      <AttachmentLinks attachments={attachments ?? []} />
      <div className="flex flex-wrap items-center justify-end gap-2 text-muted text-xs empty:hidden">
        {children}
      </div>
    </article>
  );
}
