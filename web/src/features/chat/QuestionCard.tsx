import { MessageCircleQuestionMark } from "lucide-react";
import { useNow } from "~/app/use-now";
import { waitingAge } from "~/format/relative-time";
import type { Message } from "~/wire/generated/Message";
import { Markdown } from "./Markdown";
import { isOpenRequest } from "./message-metadata";

/** A question of the agent. It is answered by a message in this session. */
export function QuestionCard({ message }: { message: Message }) {
  const open = isOpenRequest(message);
  const now = useNow();
  return (
    <section
      aria-label="Question"
      data-tone={open ? "question" : "idle"}
      className={`rounded-xl border px-4 py-3 ${open ? "border-tone/50 bg-tone-soft" : "border-line"}`}
    >
      <h2 className="flex items-center gap-2 font-semibold">
        <MessageCircleQuestionMark size={17} className="text-tone" />
        Question
        <span className="num ml-auto font-normal text-muted text-xs">
          {open ? waitingAge(message.created_at, now) : message.status}
        </span>
      </h2>
      <div className="mt-2">
        <Markdown text={message.content} />
      </div>
    </section>
  );
}
