import { CircleCheck, CircleDashed, CircleDot, ListChecks } from "lucide-react";
import type { Plan } from "~/wire/generated/Plan";

/** The agent's plan as a checklist with its progress. */
export function PlanView({ plan }: { plan: Plan }) {
  const done = plan.entries.filter((entry) => entry.status === "completed").length;
  return (
    <section aria-label="Plan" className="rounded-xl border border-line px-3.5 py-2.5">
      <h2 className="flex items-center gap-2 font-medium text-[13px]">
        <ListChecks size={15} className="text-muted" />
        Plan
        <span className="num ml-auto font-normal text-muted text-xs">
          {done} of {plan.entries.length}
        </span>
      </h2>
      <ul className="mt-2 flex flex-col gap-1.5 text-[13.5px]">
        {plan.entries.map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an agent replaces the plan as a whole; entries have no id.
          <li key={index} className="flex items-start gap-2">
            <PlanMark status={entry.status} />
            <span
              className={entry.status === "completed" ? "text-muted line-through decoration-line-strong" : ""}
            >
              {entry.content}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function PlanMark({ status }: { status: string }) {
  if (status === "completed")
    return <CircleCheck aria-label="Done" size={15} className="mt-0.75 text-review" />;
  if (status === "in_progress") {
    return <CircleDot aria-label="Under way" size={15} className="mt-0.75 animate-breathe text-accent" />;
  }
  return <CircleDashed aria-label="To do" size={15} className="mt-0.75 text-faint" />;
}
