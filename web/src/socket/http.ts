/** The few things asked by HTTP: boot, sign-in and sign-out, whether the server is ready. */
import type { Boot } from "~/wire/generated/Boot";
import type { Readiness } from "~/wire/generated/Readiness";
import type { SignedIn } from "~/wire/generated/SignedIn";
import { readSecret } from "./secret";

export type BootAnswer =
  | { kind: "boot"; boot: Boot }
  | { kind: "unauthorized" }
  | { kind: "starting"; progress: string }
  | { kind: "unreachable" };

const HTTP_UNAUTHORIZED = 401;
const HTTP_UNAVAILABLE = 503;

export async function fetchBoot(secret: string): Promise<BootAnswer> {
  try {
    const answer = await fetch("/api/v1/boot", { headers: { authorization: `Bearer ${secret}` } });
    if (answer.ok) return { kind: "boot", boot: (await answer.json()) as Boot };
    if (answer.status === HTTP_UNAUTHORIZED) return { kind: "unauthorized" };
    if (answer.status === HTTP_UNAVAILABLE) return { kind: "starting", progress: await fetchProgress() };
    return { kind: "unreachable" };
  } catch {
    return { kind: "unreachable" };
  }
}

async function fetchProgress(): Promise<string> {
  const answer = await fetch("/readyz");
  const readiness = (await answer.json().catch(() => undefined)) as Readiness | undefined;
  return readiness?.progress ?? "";
}

export type SignInAnswer = { kind: "secret"; secret: string } | { kind: "refused"; message: string };

/** Exchanges a one-time code. The code travels in the body only, so that no log and no history holds it. */
export async function exchangeCode(code: string): Promise<SignInAnswer> {
  try {
    const answer = await fetch("/api/v1/sign-in", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    });
    if (answer.ok) return { kind: "secret", secret: ((await answer.json()) as SignedIn).secret };
    return { kind: "refused", message: refusalWords(answer.status) };
  } catch {
    return { kind: "refused", message: "The server did not answer. Is it running?" };
  }
}

/** How long a sign-out waits for a server that may be gone. */
const SIGN_OUT_MS = 3_000;

/** Makes the secret void at the server, which closes every connection made with it. Gives up quietly. */
export async function endSecret(secret: string): Promise<void> {
  await fetch("/api/v1/sign-out", {
    method: "POST",
    headers: { authorization: `Bearer ${secret}` },
    signal: AbortSignal.timeout(SIGN_OUT_MS),
  }).catch(() => undefined);
}

function refusalWords(status: number): string {
  if (status === HTTP_UNAVAILABLE) return "The server is still starting. Try again in a moment.";
  if (status === 429) return "Too many wrong codes. Wait a minute, then try again.";
  return "This code is wrong, was used before, or is older than ten minutes.";
}

/** The whole text of a message whose content was cut for the wire. */
export async function fetchContent(messageId: string): Promise<string> {
  const address = `/api/v1/messages/${encodeURIComponent(messageId)}/content`;
  const answer = await fetch(address, { headers: { authorization: `Bearer ${readSecret() ?? ""}` } });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  return answer.text();
}
