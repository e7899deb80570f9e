/**
 * Requests waiting for their answer on the connection that stands. An answer may come in any order; a request whose
 * connection goes, or whose deadline passes, fails at once: whoever asked decides what to do about it.
 */

import { sentence } from "~/format/sentence";
import type { RequestAction, RequestOf, ResponseOf } from "~/wire/actions";
import type { ErrorPayload } from "~/wire/generated/ErrorPayload";
import type { Frame } from "~/wire/generated/Frame";

/** Deadlines by what the answer costs the server. */
export const REQUEST_MS = 5_000;
export const GIT_DETAIL_MS = 20_000;
export const SEND_MS = 10_000;
export const SEND_WITH_FILES_MS = 30_000;
/** Making worktrees and merging run Git on whole repositories. */
export const GIT_WORK_MS = 120_000;

export type FailureReason = "refused" | "timeout" | "disconnected";

/** Why a request has no answer. `refused` carries the server's own words. */
export class RequestFailed extends Error {
  constructor(
    readonly reason: FailureReason,
    readonly error: ErrorPayload | undefined,
    message: string,
  ) {
    super(message);
    this.name = "RequestFailed";
  }
}

interface Waiting {
  resolve: (payload: unknown) => void;
  reject: (failure: RequestFailed) => void;
  timer: ReturnType<typeof setTimeout>;
}

export class Requests {
  private readonly waiting = new Map<string, Waiting>();
  private lastId = 0;

  /** `write` returns whether a connection took the frame. */
  constructor(private readonly write: (frame: string) => boolean) {}

  send<A extends RequestAction>(
    action: A,
    payload: RequestOf<A>,
    deadlineMs: number = REQUEST_MS,
  ): Promise<ResponseOf<A>> {
    this.lastId += 1;
    const id = `r${this.lastId}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject(new RequestFailed("timeout", undefined, "The server did not answer in time."));
      }, deadlineMs);
      this.waiting.set(id, { resolve: resolve as (payload: unknown) => void, reject, timer });
      if (!this.write(JSON.stringify({ id, type: "request", action, payload }))) {
        this.settle(id)?.reject(disconnected());
      }
    });
  }

  /** A response or error frame. One without a known id was given up already. */
  receive(frame: Frame): void {
    const waiting = frame.id === undefined ? undefined : this.settle(frame.id);
    if (!waiting) return;
    if (frame.type === "response") waiting.resolve(frame.payload);
    else waiting.reject(refused(frame.payload as unknown as ErrorPayload));
  }

  /** The connection is gone: nobody will answer. */
  failAll(): void {
    for (const id of [...this.waiting.keys()]) this.settle(id)?.reject(disconnected());
  }

  private settle(id: string): Waiting | undefined {
    const waiting = this.waiting.get(id);
    if (!waiting) return undefined;
    this.waiting.delete(id);
    clearTimeout(waiting.timer);
    return waiting;
  }
}

function disconnected(): RequestFailed {
  return new RequestFailed("disconnected", undefined, "There is no connection to the server.");
}

function refused(error: ErrorPayload | undefined): RequestFailed {
  return new RequestFailed("refused", error, error?.message ?? "The server refused the request.");
}

/** The words to show for any failure. */
export function failureText(failure: unknown): string {
  return sentence(failure instanceof Error ? failure.message : "something went wrong");
}

/** The reason a refusal names for programs, if it names one. */
export function refusalReason(failure: unknown): string | undefined {
  const details = failure instanceof RequestFailed ? failure.error?.details : undefined;
  if (typeof details !== "object" || details === null || Array.isArray(details)) return undefined;
  return typeof details.reason === "string" ? details.reason : undefined;
}

/** The server's code of a refusal, if it was one. */
export function refusalCode(failure: unknown): string | undefined {
  return failure instanceof RequestFailed ? failure.error?.code : undefined;
}
