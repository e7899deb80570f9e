import { ArrowRight, Check, MessageCircleX, X } from "lucide-react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { showRequest } from "~/app/ui-actions";
import { useAnswer } from "~/app/use-answer";
import { optionsByKind } from "~/features/chat/option-order";
import { takesText } from "~/features/chat/question-answers";
import { counted } from "~/format/numbers";
import { MenuItem, MenuLine } from "~/ui/Menu";
import { Skeleton } from "~/ui/Skeleton";
import type { PendingRequest } from "~/wire/generated/PendingRequest";
import type { Task } from "~/wire/generated/Task";
import { answerableHere, type Bundle, bundlesOf } from "./pending-bundles";

/** The open requests of a task with the agent's own options, answered without opening any session. */
export function PendingAnswers({ task }: { task: Task }) {
  const answer = useAnswer(() => commands.pending(task.id), task.id);
  if (answer.state === "loading") {
    return (
      <div role="status" aria-label="Loading requests" className="flex flex-col gap-1.5 px-2.5 py-2">
        <Skeleton className="h-4 w-48" />
        <Skeleton className="h-7 w-full" />
      </div>
    );
  }
  if (answer.state === "failed") return <p className="px-2.5 py-2 text-error text-xs">{answer.problem}</p>;
  if (answer.value.length === 0) return <p className="px-2.5 py-2 text-muted text-xs">Already answered.</p>;
  return (
    <>
      {bundlesOf(answer.value).map((bundle) =>
        bundle.first.type === "clarification_request" ? (
          <Questions key={bundle.first.pending_id} bundle={bundle} task={task} />
        ) : (
          <Permission key={bundle.first.pending_id} request={bundle.first} />
        ),
      )}
      <MenuLine />
    </>
  );
}

function Permission({ request }: { request: PendingRequest }) {
  const choose = (optionId: string) =>
    void attempt("The answer did not count", commands.answer(request, optionId));
  return (
    <div data-tone="ask" className="mx-1 mb-1 rounded-lg bg-tone-soft p-1">
      <p className="break-words px-2 pt-1 font-medium text-[13px]">{request.title}</p>
      {request.detail && (
        <pre className="mx-2 mt-1 max-h-24 overflow-auto whitespace-pre-wrap break-all font-mono text-[11.5px] text-muted">
          {request.detail}
        </pre>
      )}
      <div className="mt-1">
        {optionsByKind(request.options).map((option) => (
          <MenuItem
            key={option.id}
            icon={option.kind.startsWith("allow") ? <Check size={15} /> : <X size={15} />}
            onSelect={() => choose(option.id)}
          >
            {option.name}
          </MenuItem>
        ))}
      </div>
    </div>
  );
}

/** One question with one choice is answered here; everything else is answered on its card. */
function Questions({ bundle, task }: { bundle: Bundle; task: Task }) {
  const { first } = bundle;
  const question = first.clarification?.question;
  const here = answerableHere(bundle);
  const respond = (answer: string | undefined) => {
    const answers = answer === undefined ? [] : [{ message_id: first.message_id, selected: [answer] }];
    const sent = commands.answerQuestions(first, [], answers, answer === undefined);
    void attempt("The answer did not count", sent);
  };
  return (
    <div data-tone="question" className="mx-1 mb-1 rounded-lg bg-tone-soft p-1">
      <p className="line-clamp-6 break-words px-2 pt-1 font-medium text-[13px]">
        {bundle.count === 1 ? (question?.text ?? first.title) : counted(bundle.count, "question")}
      </p>
      <div className="mt-1">
        {here &&
          question?.options.map((option) => (
            <MenuItem key={option.id} icon={<Check size={15} />} onSelect={() => respond(option.id)}>
              {option.label}
              {option.description && <span className="block text-muted text-xs">{option.description}</span>}
            </MenuItem>
          ))}
        {(!here || (question && takesText(question))) && (
          <MenuItem
            icon={<ArrowRight size={15} />}
            onSelect={() => showRequest(task, first.session_id, first.pending_id)}
          >
            {here ? "Answer in your own words…" : "Answer in the task…"}
          </MenuItem>
        )}
        <MenuItem icon={<MessageCircleX size={15} />} onSelect={() => respond(undefined)}>
          Decline
        </MenuItem>
      </div>
    </div>
  );
}
