/**
 * One WebSocket that is opened again whenever it goes: handshake deadline, ping, back-off.
 *
 * A dead socket is noticed within 45 s, or within 5 s of the page becoming visible. What frames mean is not known
 * here; sockets, timers and chance are handed in, so the whole machine is tested without a network.
 */
import type { Frame } from "~/wire/generated/Frame";

export const PING_EVERY_MS = 20_000;
/** How long a ping may go unanswered: with the interval this stays under the promised 45 s. */
export const PONG_WAIT_MS = 20_000;
/** A person is looking: find out quickly whether the socket survived the sleep. */
export const VISIBLE_PONG_WAIT_MS = 5_000;
export const HANDSHAKE_MS = 5_000;
export const BACKOFF_MIN_MS = 500;
export const BACKOFF_MAX_MS = 10_000;

/** Why the server closed, where it matters. */
export const CLOSE_SIGNED_OUT = 4003;

export interface SocketLike {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  send(text: string): void;
  close(): void;
}

export type ConnectionPhase = "idle" | "connecting" | "open" | "waiting" | "stopped";

export interface ConnectionEvents {
  onPhase(phase: ConnectionPhase): void;
  onFrame(frame: Frame): void;
  /** The secret is no longer good; nothing is tried again. */
  onSignedOut(): void;
  /** The handshake failed before any frame: the caller may look whether the secret is still good. */
  onHandshakeFailed(): void;
}

export class Connection {
  private socket: SocketLike | undefined;
  private phase: ConnectionPhase = "idle";
  private attempts = 0;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private handshakeTimer: ReturnType<typeof setTimeout> | undefined;
  private pingTimer: ReturnType<typeof setTimeout> | undefined;
  private pongTimer: ReturnType<typeof setTimeout> | undefined;
  private pings = 0;

  constructor(
    private readonly createSocket: () => SocketLike,
    private readonly events: ConnectionEvents,
    private readonly chance: () => number = Math.random,
  ) {}

  start(): void {
    if (this.phase === "idle" || this.phase === "stopped") this.connect();
  }

  stop(): void {
    clearTimeout(this.retryTimer);
    this.abandon();
    this.enter("stopped");
  }

  /** Returns whether a socket took the text. */
  write(text: string): boolean {
    if (this.phase !== "open" || !this.socket) return false;
    this.socket.send(text);
    return true;
  }

  /** The connection does all it is for: the next loss starts over with short waits. */
  settled(): void {
    this.attempts = 0;
  }

  /** The connection stands but does not do what it is for: it is given up and opened again after a wait. */
  giveUp(): void {
    if (this.phase === "open") this.lost();
  }

  /** The page is looked at again: probe at once, or stop waiting for the next attempt. */
  pageVisible(): void {
    if (this.phase === "open") this.ping(VISIBLE_PONG_WAIT_MS);
    if (this.phase === "waiting") this.connect();
  }

  private connect(): void {
    clearTimeout(this.retryTimer);
    this.abandon();
    const socket = this.createSocket();
    this.socket = socket;
    this.enter("connecting");
    this.handshakeTimer = setTimeout(() => this.lost(), HANDSHAKE_MS);
    socket.onopen = () => this.opened();
    socket.onmessage = (event) => this.received(event.data);
    socket.onclose = ({ code }) => this.closed(code);
  }

  private opened(): void {
    clearTimeout(this.handshakeTimer);
    this.enter("open");
    this.schedulePing();
  }

  private received(data: unknown): void {
    // Anything that arrives proves the socket alive.
    clearTimeout(this.pongTimer);
    this.pongTimer = undefined;
    const frame = parseFrame(data);
    if (frame) this.events.onFrame(frame);
  }

  private closed(code: number): void {
    if (code === CLOSE_SIGNED_OUT) {
      this.abandon();
      this.enter("stopped");
      this.events.onSignedOut();
      return;
    }
    this.lost();
  }

  private lost(): void {
    const handshake = this.phase === "connecting";
    this.abandon();
    this.enter("waiting");
    this.retryTimer = setTimeout(() => this.connect(), this.backoff());
    if (handshake) this.events.onHandshakeFailed();
  }

  /** Doubles up to the most, with a spread so that many pages do not return in one instant. */
  private backoff(): number {
    const most = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** this.attempts);
    this.attempts += 1;
    return Math.max(BACKOFF_MIN_MS, most * (0.5 + this.chance() / 2));
  }

  private schedulePing(): void {
    clearTimeout(this.pingTimer);
    this.pingTimer = setTimeout(() => {
      this.ping(PONG_WAIT_MS);
      this.schedulePing();
    }, PING_EVERY_MS);
  }

  private ping(waitMs: number): void {
    this.pings += 1;
    this.write(JSON.stringify({ id: `ping${this.pings}`, type: "request", action: "ping", payload: {} }));
    clearTimeout(this.pongTimer);
    this.pongTimer = setTimeout(() => this.lost(), waitMs);
  }

  private abandon(): void {
    clearTimeout(this.handshakeTimer);
    clearTimeout(this.pingTimer);
    clearTimeout(this.pongTimer);
    const socket = this.socket;
    this.socket = undefined;
    if (!socket) return;
    socket.onopen = null;
    socket.onmessage = null;
    socket.onclose = null;
    socket.close();
  }

  private enter(phase: ConnectionPhase): void {
    if (this.phase === phase) return;
    this.phase = phase;
    this.events.onPhase(phase);
  }
}

function parseFrame(data: unknown): Frame | undefined {
  if (typeof data !== "string") return undefined;
  try {
    return JSON.parse(data) as Frame;
  } catch {
    return undefined;
  }
}
