import { Ban, Check, ShieldCheck, ShieldQuestionMark, ShieldX, X } from "lucide-react";
import { commands } from "~/app/runtime";
import { useNow } from "~/app/use-now";
import { fullTime, waitingAge } from "~/format/relative-time";
import { Button } from "~/ui/Button";
import { Kbd } from "~/ui/Kbd";
import type { Message } from "~/wire/generated/Message";
import type { PermissionOption } from "~/wire/generated/PermissionOption";
import type { PermissionRequest } from "~/wire/generated/PermissionRequest";
import { EditView } from "./EditView";
import { isOpenRequest } from "./message-metadata";
import { optionsByKind } from "./option-order";
import { RefusalNote } from "./RefusalNote";
import { type Decision, isTooLate, useDecision } from "./use-decision";
import { useOptionKeys } from "./use-option-keys";

interface PermissionCardProps {
  message: Message;
  permission: PermissionRequest;
}

/** What the agent wants to do and the agent's own options. Impossible to miss while open, quiet afterwards. */
export function PermissionCard({ message, permission }: PermissionCardProps) {
  const decision = useDecision();
  // An answer that came too late means that there is nothing to choose here any more, whatever the row still says.
  const open = isOpenRequest(message) && !isTooLate(decision.refusal);
  return open ? (
    <OpenPermission message={message} permission={permission} decision={decision} />
  ) : (
    <div>
      <SettledPermission message={message} permission={permission} />
      <RefusalNote refusal={decision.refusal} settled />
    </div>
  );
}

function OpenPermission({ message, permission, decision }: PermissionCardProps & { decision: Decision }) {
  const { sent } = decision;
  const now = useNow();
  const options = optionsByKind(permission.options);
  const choose = (option: PermissionOption | undefined) => {
    const { session_id, id: message_id, pending_id } = message;
    if (!pending_id) return;
    const request = { session_id, message_id, pending_id };
    void decision.decide(option?.id ?? "", () => commands.answer(request, option?.id));
  };
  const active = useOptionKeys(message.id, {
    choose: (index) => {
      const option = options[index];
      if (option) choose(option);
    },
  });
  return (
    <section
      aria-label={`Permission: ${permission.tool_call.title}`}
      data-tone="ask"
      data-card={message.id}
      className="rounded-2xl border border-tone/55 bg-tone-soft p-4 shadow-[0_0_0_4px_color-mix(in_srgb,var(--tone)_10%,transparent)]"
    >
      <p role="alert" className="sr-only">
        The agent asks: {permission.tool_call.title}
      </p>
      <header className="flex items-start gap-2.5">
        <ShieldQuestionMark size={19} className="mt-px text-tone" />
        <h2 className="min-w-0 flex-1 break-words font-semibold text-[15px] leading-snug">
          {permission.tool_call.title || "May the agent go on?"}
        </h2>
        <time title={fullTime(message.created_at)} className="num shrink-0 pt-0.5 text-muted text-xs">
          {waitingAge(message.created_at, now)}
        </time>
      </header>
      <Subject permission={permission} />
      <div className="mt-3 flex flex-wrap gap-2">
        {options.map((option, index) => (
          <Button
            key={option.id}
            look={option.kind === "allow_once" ? "strong" : "plain"}
            busy={sent === option.id}
            disabled={sent !== undefined}
            onClick={() => choose(option)}
            className="max-sm:flex-1"
          >
            {option.name}
            {active && index < 9 && <Kbd className="border-current text-inherit opacity-60">{index + 1}</Kbd>}
          </Button>
        ))}
        {options.length === 0 && (
          <Button busy={sent !== undefined} onClick={() => choose(undefined)}>
            Cancel the request
          </Button>
        )}
      </div>
      <RefusalNote refusal={decision.refusal} settled={false} />
    </section>
  );
}

function Subject({ permission }: { permission: PermissionRequest }) {
  const { tool_call: tool } = permission;
  if (!tool.input && !tool.edits?.length && !tool.locations?.length) return null;
  return (
    <div className="mt-3 overflow-hidden rounded-lg border border-line bg-surface">
      {tool.edits?.map((edit) => (
        <EditView key={edit.path} edit={edit} />
      ))}
      {tool.input && !tool.edits?.length && (
        <pre className="max-h-60 overflow-auto whitespace-pre-wrap px-3 py-2.5 [overflow-wrap:anywhere] font-mono text-[12.5px]">
          {tool.input}
        </pre>
      )}
      {!tool.input && !tool.edits?.length && (
        <p className="break-all px-3 py-2 font-mono text-xs">{tool.locations?.join("\n")}</p>
      )}
    </div>
  );
}

const OUTCOME = {
  approved: [ShieldCheck, "Allowed", "text-review"],
  rejected: [ShieldX, "Rejected", "text-error"],
  cancelled: [Ban, "Cancelled", "text-faint"],
  expired: [X, "Expired", "text-faint"],
  answered: [Check, "Answered", "text-review"],
} as const;

function SettledPermission({ message, permission }: PermissionCardProps) {
  const [Icon, word, look] = OUTCOME[message.status as keyof typeof OUTCOME] ?? OUTCOME.expired;
  const chosen = permission.options.find((option) => option.id === permission.chosen_option_id);
  return (
    <section
      aria-label={`Permission: ${permission.tool_call.title}`}
      className="flex min-h-9.5 items-center gap-2.5 rounded-xl border border-line px-3 py-1.5 text-[13px]"
    >
      <Icon size={15} className={look} />
      <span className="shrink-0 font-medium">{chosen?.name ?? word}</span>
      <span className="min-w-0 flex-1 truncate text-muted">{permission.tool_call.title}</span>
      {message.delivered === false && (
        <span className="shrink-0 text-error text-xs">the agent did not get this</span>
      )}
      {chosen && <span className="shrink-0 text-faint text-xs">{word.toLowerCase()}</span>}
    </section>
  );
}
