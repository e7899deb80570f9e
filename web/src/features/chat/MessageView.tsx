import { memo } from "react";
import type { Message } from "~/wire/generated/Message";
import { ErrorNote } from "./ErrorNote";
import { Markdown } from "./Markdown";
import { permissionOf, planOf, toolCallOf } from "./message-metadata";
import { PermissionCard } from "./PermissionCard";
import { PlanView } from "./PlanView";
import { StatusNote } from "./StatusNote";
import { ThoughtView } from "./ThoughtView";
import { ToolCard } from "./ToolCard";
import { TruncationNote } from "./TruncationNote";
import { UnknownUpdate } from "./UnknownUpdate";
import { UserMessage } from "./UserMessage";

interface MessageViewProps {
  message: Message;
  /** The last row: only there something can still be under way. */
  latest: boolean;
}

/** One row of a transcript, by what it is. A type this version does not know is shown as text. */
export const MessageView = memo(function MessageView({ message, latest }: MessageViewProps) {
  const toolCall = message.type === "tool_call" ? toolCallOf(message) : undefined;
  if (toolCall) return <ToolCard toolCall={toolCall} />;
  const plan = message.type === "plan" ? planOf(message) : undefined;
  if (plan) return <PlanView plan={plan} />;
  const permission = message.type === "permission_request" ? permissionOf(message) : undefined;
  if (permission) return <PermissionCard message={message} permission={permission} />;
  switch (message.type) {
    case "thought":
      return <ThoughtView message={message} live={latest && message.streaming === true} />;
    case "status":
      return <StatusNote message={message} />;
    case "error":
      return <ErrorNote message={message} />;
    case "unknown_update":
      return <UnknownUpdate message={message} />;
    default:
      return message.author === "user" ? (
        <UserMessage message={message} />
      ) : (
        <AgentMessage message={message} />
      );
  }
});

function AgentMessage({ message }: { message: Message }) {
  return (
    <article aria-label="Agent" className="text-[14.5px] max-sm:text-[15.5px]">
      <Markdown text={message.content} />
      {message.content_truncated && <TruncationNote messageId={message.id} />}
    </article>
  );
}
