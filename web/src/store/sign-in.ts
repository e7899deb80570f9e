/** Whether this page may talk to the server, and what it is doing about it. */

export type SignInPhase =
  /** Nothing is known yet: the first screen is a skeleton. */
  | "checking"
  /** No secret, or one the server refused. */
  | "signed_out"
  /** A code is being exchanged. */
  | "exchanging"
  /** The server is up but not ready. */
  | "starting"
  /** The server did not answer. */
  | "unreachable"
  | "signed_in";

export interface SignInState {
  phase: SignInPhase;
  /** Why the last attempt failed, in words for people. */
  problem: string | undefined;
  /** What a starting server says it is doing. */
  progress: string | undefined;
}

export const initialSignIn: SignInState = { phase: "checking", problem: undefined, progress: undefined };
