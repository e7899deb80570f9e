import { KeyRound, LoaderCircle, ServerCrash } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { client } from "~/app/runtime";
import { useAppState } from "~/app/use-app-state";
import { BrandMark } from "~/features/switcher/BrandMark";
import { codeOf } from "~/socket/secret";
import { Button } from "~/ui/Button";
import { Field } from "~/ui/Field";

/** Everything before the page may show the workspace: signing in, waiting for the server, or why neither works. */
export function SignInView() {
  const phase = useAppState((state) => state.signIn.phase);
  if (phase === "checking") return <Waiting title="Opening flightstrip" />;
  if (phase === "exchanging") return <Waiting title="Signing in" />;
  if (phase === "starting") return <Starting />;
  if (phase === "unreachable") return <Unreachable />;
  return <SignInForm />;
}

function Frame({ children }: { children: ReactNode }) {
  return (
    <main className="grid h-full place-items-center overflow-auto bg-bg p-5">
      <div className="w-full max-w-105">{children}</div>
    </main>
  );
}

function Waiting({ title, detail }: { title: string; detail?: string | undefined }) {
  return (
    <Frame>
      <div role="status" className="flex flex-col items-center gap-4 text-center">
        <BrandMark className="h-10 w-14" />
        <p className="flex items-center gap-2.5 font-medium">
          <LoaderCircle size={16} className="animate-turn text-accent" /> {title}
        </p>
        {detail && <p className="text-[13px] text-muted">{detail}</p>}
      </div>
    </Frame>
  );
}

function Starting() {
  const progress = useAppState((state) => state.signIn.progress);
  return <Waiting title="The server is starting" detail={progress || "This page goes on by itself."} />;
}

function Unreachable() {
  return (
    <Frame>
      <div role="alert" className="flex flex-col items-center gap-3 text-center">
        <span className="grid size-12 place-items-center rounded-2xl bg-error-soft text-error">
          <ServerCrash size={22} />
        </span>
        <h1 className="font-semibold text-lg">The server does not answer</h1>
        <p className="text-[13.5px] text-muted">
          Start it with <code className="font-mono text-xs">flightstrip serve</code>. This page goes on by
          itself as soon as it is there.
        </p>
      </div>
    </Frame>
  );
}

function SignInForm() {
  const problem = useAppState((state) => state.signIn.problem);
  const [text, setText] = useState("");
  const signIn = (event: FormEvent) => {
    event.preventDefault();
    const code = codeOf(text);
    if (code !== "") void client.signIn(code);
  };
  return (
    <Frame>
      <div className="rounded-2xl bg-surface p-7 shadow-strip max-sm:p-5">
        <BrandMark className="h-8 w-11" />
        <h1 className="mt-5 font-[650] text-xl tracking-[-0.015em]">Sign in to flightstrip</h1>
        <p className="mt-1.5 text-[13.5px] text-muted">
          The server prints an address with a one-time code when it starts, and the command that prints a
          fresh one. Run it where the server runs:
        </p>
        <pre className="mt-3 overflow-auto rounded-lg border border-line bg-sunken px-3 py-2 font-mono text-[12.5px]">
          flightstrip sign-in --data-dir DIR
        </pre>
        <form onSubmit={signIn} className="mt-5 flex flex-col gap-3">
          <Field label="Code or address" problem={problem} hint="A code works once, for ten minutes.">
            {(control) => (
              <input
                {...control}
                value={text}
                autoComplete="off"
                spellCheck={false}
                placeholder="Paste it here"
                onChange={(event) => setText(event.target.value)}
                className="field min-h-10 font-mono text-[13px]"
              />
            )}
          </Field>
          <Button look="primary" type="submit" disabled={text.trim() === ""} className="h-10 w-full">
            <KeyRound size={15} /> Sign in
          </Button>
        </form>
      </div>
    </Frame>
  );
}
