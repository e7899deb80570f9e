import type { SocketLike } from "~/socket/connection";
import type { Retry } from "~/wire/generated/Retry";

/** The far end of a connection, in the test's hands. */
export class FakeSocket implements SocketLike {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  readonly sent: Array<{ id?: string; action: string; payload: Record<string, unknown> }> = [];
  closed = false;
  /** Answers a request as a server would; what it returns is the payload. */
  answer: ((action: string, payload: Record<string, unknown>) => unknown) | undefined;

  send(text: string): void {
    const frame = JSON.parse(text) as FakeSocket["sent"][number];
    this.sent.push(frame);
    if (!this.answer) return;
    const payload = this.answer(frame.action, frame.payload);
    queueMicrotask(() => this.receive({ id: frame.id, type: "response", action: frame.action, payload }));
  }

  close(): void {
    this.closed = true;
  }

  open(): void {
    this.onopen?.();
  }

  receive(frame: unknown): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }

  /** Refuses the newest request of this action. */
  refuse(action: string, retry: Retry): void {
    const id = this.sent.findLast((frame) => frame.action === action)?.id;
    this.receive({ id, type: "error", action, payload: { code: "BUSY", message: "not now", retry } });
  }

  notify(action: string, payload: unknown): void {
    this.receive({ type: "notification", action, payload });
  }

  drop(code = 1006): void {
    this.onclose?.({ code });
  }

  actions(): string[] {
    return this.sent.map((frame) => frame.action);
  }
}
