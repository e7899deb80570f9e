import { Ban, Check, History, MessageCircleX, X } from "lucide-react";
import type { ReactNode } from "react";
import { Markdown } from "./Markdown";
import { answerWords, type QuestionRow } from "./question-answers";

const OUTCOME = {
  answered: [Check, "Answered", "text-review"],
  rejected: [MessageCircleX, "Declined", "text-faint"],
  cancelled: [Ban, "Taken back by the agent", "text-faint"],
  expired: [X, "Expired", "text-faint"],
} as const;

interface SettledQuestionsProps {
  rows: QuestionRow[];
  /** Nobody answered, and newer work has begun. */
  superseded: boolean;
  children: ReactNode;
}

/** Questions that take no answer any more, with what was answered. */
export function SettledQuestions({ rows, superseded, children }: SettledQuestionsProps) {
  const [first] = rows;
  if (!first) return null;
  const status = first.message.status as keyof typeof OUTCOME;
  const [Icon, word, look] = superseded
    ? ([History, "Not answered: the conversation went on", "text-faint"] as const)
    : (OUTCOME[status] ?? OUTCOME.cancelled);
  return (
    <section
      aria-label={`Question: ${first.clarification.question.text}`}
      className="rounded-xl border border-line px-3 py-2.5 text-[13px]"
    >
      <p className="flex items-center gap-2.5 font-medium">
        <Icon size={15} className={look} /> {word}
      </p>
      <dl className="mt-1 flex flex-col gap-1.5 pl-6.25">
        {rows.map(({ message, clarification: { question, answer } }) => (
          <div key={message.id}>
            <dt className="break-words text-muted">
              <Markdown text={question.text} />
            </dt>
            {message.status === "answered" && (
              <dd className="break-words font-medium">{answerWords(question, answer)}</dd>
            )}
          </div>
        ))}
      </dl>
      {first.message.delivered === false && (
        <p className="mt-1.5 pl-6.25 text-error">The agent did not get this answer.</p>
      )}
      {children}
    </section>
  );
}
