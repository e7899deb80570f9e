/**
 * The secret of this browser, kept for this origin only.
 *
 * A cookie would be sent to every port of this machine; storage is not (cookies ignore ports, and an agent's dev
 * server runs on the same host).
 */
const KEY = "flightstrip.secret";

export function readSecret(): string | undefined {
  return localStorage.getItem(KEY) ?? undefined;
}

export function keepSecret(secret: string): void {
  localStorage.setItem(KEY, secret);
}

export function forgetSecret(): void {
  localStorage.removeItem(KEY);
}

/** The code in a pasted address or a bare code. */
export function codeOf(text: string): string {
  const trimmed = text.trim();
  return /[#&]code=([^&\s]+)/.exec(trimmed)?.[1] ?? trimmed;
}

/** Takes the one-time code out of the address, so that it stays in no history entry. */
export function takeCodeFromAddress(page: Window): string | undefined {
  const code = new URLSearchParams(page.location.hash.slice(1)).get("code");
  if (code === null) return undefined;
  page.history.replaceState(page.history.state, "", page.location.pathname + page.location.search);
  return code;
}
