import { Check, X } from "lucide-react";
import { attempt } from "~/app/attempt";
import { commands } from "~/app/runtime";
import { useAnswer } from "~/app/use-answer";
import { optionsByKind } from "~/features/chat/option-order";
import { MenuItem, MenuLine } from "~/ui/Menu";
import { Skeleton } from "~/ui/Skeleton";
import type { PendingRequest } from "~/wire/generated/PendingRequest";

/** The open requests of a task with the agent's own options, answered without opening any session. */
export function PendingAnswers({ taskId }: { taskId: string }) {
  const answer = useAnswer(() => commands.pending(taskId), taskId);
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
      {answer.value.map((request) => (
        <Request key={request.pending_id} request={request} />
      ))}
      <MenuLine />
    </>
  );
}

function Request({ request }: { request: PendingRequest }) {
  const choose = (optionId: string) =>
    void attempt("The answer did not count", commands.answer(request, optionId));
  return (
    <div data-tone="ask" className="mx-1 mb-1 rounded-lg bg-tone-soft p-1">
      <p className="px-2 pt-1 font-medium text-[13px]">{request.title}</p>
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
