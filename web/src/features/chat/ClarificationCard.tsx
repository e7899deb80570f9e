import { MessageCircleQuestionMark } from "lucide-react";
import { useEffect, useRef } from "react";
import { commands } from "~/app/runtime";
import { useAppState } from "~/app/use-app-state";
import { useNow } from "~/app/use-now";
import { counted } from "~/format/numbers";
import { fullTime, waitingAge } from "~/format/relative-time";
import { Button } from "~/ui/Button";
import { Kbd } from "~/ui/Kbd";
import type { Session } from "~/wire/generated/Session";
import { forgetAnswers } from "./kept-answers";
import { isOpenRequest } from "./message-metadata";
import { QuestionFields } from "./QuestionFields";
import { answersOf, choose, firstOpen, firstWrong, NO_ANSWER, type QuestionRow } from "./question-answers";
import { type Overtaken, type Standing, standingOf } from "./question-standing";
import { RefusalNote } from "./RefusalNote";
import { SettledQuestions } from "./SettledQuestions";
import { useAnswerDrafts } from "./use-answer-drafts";
import { type Decision, isTooLate, useDecision } from "./use-decision";
import { useOptionKeys } from "./use-option-keys";
import { usePatternCheck } from "./use-pattern-check";

interface ClarificationCardProps {
  session: Session;
  pendingId: string;
  rows: QuestionRow[];
  overtaken: Overtaken;
}

/** What the agent wants to know: one to four questions that are answered together, once. */
export function ClarificationCard({ session, pendingId, rows, overtaken }: ClarificationCardProps) {
  const now = useNow();
  const decision = useDecision();
  const awaited = useAppState((state) => state.sessions.reports[session.id]?.awaited?.includes(pendingId));
  const standing = standingOf(rows, overtaken, session, awaited);
  const ended = haveEnded(rows, standing);
  useEffect(() => {
    if (ended) forgetAnswers(pendingId);
  }, [ended, pendingId]);
  const missed = isTooLate(decision.refusal) && standing !== "settled";
  if (standing === "settled" || standing === "superseded" || missed) {
    return (
      <SettledQuestions rows={rows} superseded={standing !== "settled"}>
        <RefusalNote refusal={decision.refusal} settled />
      </SettledQuestions>
    );
  }
  return (
    <OpenQuestions
      session={session}
      pendingId={pendingId}
      rows={rows.filter(({ message }) => isOpenRequest(message))}
      whole={rows.length === rows[0]?.clarification.count}
      detached={standing === "detached"}
      decision={decision}
      now={now}
    />
  );
}

/** Until it is known what became of an answer, the questions may be open again. */
function haveEnded(rows: readonly QuestionRow[], standing: Standing): boolean {
  const underWay = rows.some(
    ({ message }) => message.status === "answered" && message.delivered === undefined,
  );
  return standing === "superseded" || (standing === "settled" && !underWay);
}

interface OpenQuestionsProps {
  session: Session;
  pendingId: string;
  rows: QuestionRow[];
  /** Every question of the bundle is loaded. */
  whole: boolean;
  detached: boolean;
  decision: Decision;
  now: number;
}

function OpenQuestions({ session, pendingId, rows, whole, detached, decision, now }: OpenQuestionsProps) {
  const { drafts, keep, asked, setAsked } = useAnswerDrafts(pendingId);
  const first = rows[0];
  const current = firstOpen(rows, drafts);
  const currentRow = current < 0 ? (rows.length === 1 ? first : undefined) : rows[current];
  const hasOlder = useAppState((state) => state.transcripts.bySession[session.id]?.hasOlder === true);
  useEffect(() => {
    if (!whole && hasOlder) void commands.olderMessages(session.id);
  }, [whole, hasOlder, session.id]);

  const respond = (what: string, rejected: boolean) => {
    if (!first) return;
    const bundle = { session_id: session.id, message_id: first.message.id, pending_id: pendingId };
    const answers = rejected ? [] : answersOf(rows, drafts);
    const ids = rows.map(({ message }) => message.id);
    void decision.decide(what, () => commands.answerQuestions(bundle, ids, answers, rejected));
  };
  const card = useRef<HTMLElement>(null);
  const patterns = usePatternCheck();
  const send = async () => {
    let wrong = firstWrong(rows, drafts);
    if (whole && wrong < 0) {
      const misfits = await patterns.check(rows, drafts);
      if (misfits === undefined) return;
      wrong = rows.findIndex(({ message }) => misfits[message.id] !== undefined);
      if (wrong < 0) {
        respond("answer", false);
        return;
      }
    }
    setAsked(true);
    const field = card.current?.querySelectorAll("fieldset")[wrong];
    field?.querySelector<HTMLElement>("input, textarea")?.focus();
  };
  const active = useOptionKeys(pendingId, {
    choose: (index) => {
      const option = currentRow?.clarification.question.options[index];
      if (!currentRow || !option || decision.sent !== undefined) return;
      const { message, clarification } = currentRow;
      keep(message.id, choose(clarification.question, drafts[message.id] ?? NO_ANSWER, option.id));
    },
    confirm: () => void send(),
  });
  if (!first) return null;
  return (
    <section
      ref={card}
      aria-label={`Question: ${first.clarification.question.text}`}
      data-tone="question"
      data-card={pendingId}
      className="rounded-2xl border border-tone/55 bg-tone-soft p-4 shadow-[0_0_0_4px_color-mix(in_srgb,var(--tone)_10%,transparent)] max-sm:p-3.5"
    >
      <p role="alert" className="sr-only">
        The agent asks: {first.clarification.question.text}
      </p>
      <header className="flex items-start gap-2.5">
        <MessageCircleQuestionMark size={19} className="mt-px text-tone" />
        <h2 className="min-w-0 flex-1 font-semibold text-[15px] leading-snug">
          {rows.length === 1
            ? "The agent has a question"
            : `The agent has ${counted(rows.length, "question")}`}
        </h2>
        <time title={fullTime(first.message.created_at)} className="num shrink-0 pt-0.5 text-muted text-xs">
          {waitingAge(first.message.created_at, now)}
        </time>
      </header>
      {detached && (
        <p className="mt-1.5 text-[13px] text-muted">
          The agent goes on without waiting; your answer will be sent as a message.
        </p>
      )}
      <div className="mt-3 flex flex-col gap-4">
        {rows.map((row, index) => (
          <QuestionFields
            key={row.message.id}
            row={row}
            number={rows.length === 1 ? undefined : index + 1}
            draft={drafts[row.message.id] ?? NO_ANSWER}
            onChange={(draft) => keep(row.message.id, draft)}
            onEnter={() => void send()}
            disabled={decision.sent !== undefined}
            keys={active && row === currentRow}
            asked={asked}
            misfit={patterns.misfits[row.message.id]}
          />
        ))}
      </div>
      {!whole && <p className="mt-3 text-[13px] text-muted">Loading the questions above…</p>}
      <RefusalNote refusal={decision.refusal} settled={false} />
      <div className="mt-4 flex flex-wrap gap-2">
        <Button
          look="strong"
          busy={decision.sent === "answer"}
          disabled={decision.sent !== undefined || !whole}
          onClick={() => void send()}
          className="max-sm:flex-1"
        >
          {rows.length === 1 ? "Send answer" : "Send answers"}
          {active && <Kbd className="border-current text-inherit opacity-60">↵</Kbd>}
        </Button>
        <Button
          busy={decision.sent === "decline"}
          disabled={decision.sent !== undefined}
          onClick={() => respond("decline", true)}
        >
          Decline
        </Button>
      </div>
    </section>
  );
}
