import { type KeyboardEvent, useId } from "react";
import { useLayout } from "~/app/use-layout";
import { Kbd } from "~/ui/Kbd";
import type { QuestionOption } from "~/wire/generated/QuestionOption";
import { Markdown } from "./Markdown";
import { choose, type DraftAnswer, problemOf, type QuestionRow, takesText, write } from "./question-answers";
import { limitHints } from "./question-limits";

interface QuestionFieldsProps {
  row: QuestionRow;
  /** Its place among several, from 1. */
  number: number | undefined;
  draft: DraftAnswer;
  onChange(draft: DraftAnswer): void;
  onEnter(): void;
  disabled: boolean;
  /** The number keys choose here. */
  keys: boolean;
  /** The person wanted to send: what is missing is said. */
  asked: boolean;
  /** A text that was found not to match the question's pattern. */
  misfit: string | undefined;
}

/** One question: its text, its options as wide choices, and a field for words of one's own. */
export function QuestionFields({ row, number, draft, asked, misfit, keys, ...rest }: QuestionFieldsProps) {
  const { question } = row.clarification;
  const id = useId();
  const pattern = question.limits?.pattern;
  const mismatch = misfit !== undefined && misfit === draft.text.trim();
  const mismatchWords = mismatch ? `This does not match the pattern ${pattern}.` : undefined;
  const problem = asked ? (problemOf(question, draft) ?? mismatchWords) : undefined;
  return (
    <fieldset
      aria-labelledby={`${id}-text`}
      aria-describedby={problem === undefined ? `${id}-hints` : `${id}-hints ${id}-problem`}
      className="min-w-0"
    >
      <div id={`${id}-text`} className="flex gap-2 font-medium">
        {number !== undefined && <span className="num text-tone">{number}.</span>}
        <div className="min-w-0 flex-1">
          <Markdown text={question.text} />
        </div>
      </div>
      <p className="mt-0.5 text-muted text-xs empty:hidden">{limitHints(question).join(" · ")}</p>
      {pattern !== undefined && (
        <p className="mt-0.5 break-words text-muted text-xs">
          Pattern: <code className="font-mono">{pattern}</code>
        </p>
      )}
      <div className="mt-2 flex flex-col gap-1.5">
        {question.options.map((option, index) => (
          <Choice
            key={option.id}
            name={id}
            option={option}
            several={question.multi_select}
            chosen={draft.selected.includes(option.id)}
            disabled={rest.disabled}
            hint={keys && index < 9 ? index + 1 : undefined}
            onChoose={() => rest.onChange(choose(question, draft, option.id))}
          />
        ))}
        {takesText(question) && (
          <OwnWords
            labelId={`${id}-text`}
            problemId={problem === undefined ? undefined : `${id}-problem`}
            beside={question.options.length > 0}
            number={question.format !== undefined}
            text={draft.text}
            disabled={rest.disabled}
            onWrite={(text) => rest.onChange(write(question, draft, text))}
            onEnter={rest.onEnter}
          />
        )}
      </div>
      {problem !== undefined && (
        <p id={`${id}-problem`} role="alert" className="mt-1.5 text-[13px] text-error">
          {problem}
        </p>
      )}
    </fieldset>
  );
}

interface ChoiceProps {
  name: string;
  option: QuestionOption;
  several: boolean;
  chosen: boolean;
  disabled: boolean;
  hint: number | undefined;
  onChoose(): void;
}

function Choice({ name, option, several, chosen, disabled, hint, onChoose }: ChoiceProps) {
  return (
    <label
      className={`flex min-h-11 cursor-pointer items-center gap-3 rounded-xl border px-3 py-2 transition-colors has-focus-visible:outline-2 has-focus-visible:outline-accent has-disabled:cursor-default has-disabled:opacity-60 ${
        chosen
          ? "border-accent bg-accent-soft"
          : "border-line-strong bg-surface hover:border-muted/60 dark:bg-raised"
      }`}
    >
      <input
        type={several ? "checkbox" : "radio"}
        name={name}
        checked={chosen}
        disabled={disabled}
        onChange={onChoose}
        // A radio that is chosen does not change again, but an optional question takes its choice back.
        onClick={several || !chosen ? undefined : onChoose}
        className="size-4.5 shrink-0 accent-accent outline-none"
      />
      <span className="min-w-0 flex-1 break-words">
        {option.label}
        {option.description && <span className="block text-[13px] text-muted">{option.description}</span>}
      </span>
      {hint !== undefined && <Kbd>{hint}</Kbd>}
    </label>
  );
}

interface OwnWordsProps {
  labelId: string;
  problemId: string | undefined;
  /** There are options too. */
  beside: boolean;
  number: boolean;
  text: string;
  disabled: boolean;
  onWrite(text: string): void;
  onEnter(): void;
}

function OwnWords({ labelId, problemId, beside, number, text, disabled, onWrite, onEnter }: OwnWordsProps) {
  const layout = useLayout();
  const id = useId();
  const pressKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.key !== "Enter" || event.shiftKey) return;
    if (layout === "phone" && !number) return;
    event.preventDefault();
    onEnter();
  };
  return (
    <textarea
      id={id}
      aria-label={beside ? "In your own words" : "Your answer"}
      aria-describedby={problemId ?? labelId}
      aria-invalid={problemId !== undefined && text.trim() !== "" ? true : undefined}
      value={text}
      rows={1}
      inputMode={number ? "decimal" : "text"}
      disabled={disabled}
      placeholder={number ? "A number" : beside ? "Or in your own words…" : "Write your answer…"}
      onChange={(event) => onWrite(event.target.value)}
      onKeyDown={pressKey}
      className="field field-sizing-content max-h-50 min-h-11 resize-none rounded-xl px-3 py-2.5 leading-normal"
    />
  );
}
