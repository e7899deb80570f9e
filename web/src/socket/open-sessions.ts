/**
 * The sessions whose detail is on screen: subscriptions, focus, and the transcripts that belong to them.
 *
 * Invariant: showing an equal set again sends nothing (API-08). A session is subscribed before its transcript is
 * listed, so nothing falls between the two.
 */
import { type AppStore, change } from "~/store/store";
import {
  awaitNewest,
  beginNewest,
  failLoading,
  failOlder,
  failOpening,
  finishNewest,
  keepClosed,
  openTranscript,
  receiveMessage,
  receiveOlder,
} from "~/store/transcripts";
import type { Message } from "~/wire/generated/Message";
import type { MessageAppended } from "~/wire/generated/MessageAppended";
import { OneAtATime } from "./one-at-a-time";
import { RequestFailed, type Requests } from "./requests";

/** The first page; older ones come when the reader scrolls up. */
const PAGE_ROWS = 50;
/** Pages of a reload are larger: it covers what was on screen. */
const RELOAD_ROWS = 200;
/** Beyond this many pages the oldest rows held are let go and listed again on scrolling. */
const RELOAD_PAGES = 5;

/** After a reconnect a server that is busy for now is asked so often, this far apart; then the session shows it. */
const SUBSCRIBE_TRIES = 3;
const SUBSCRIBE_AGAIN_MS = 500;

export class OpenSessions {
  private shown: ReadonlySet<string> = new Set();
  private focused: string | undefined;
  private closed: string[] = [];
  private readonly fetching = new Set<string>();
  private readonly lists = new OneAtATime();

  constructor(
    private readonly store: AppStore,
    private readonly requests: Requests,
  ) {}

  /** The complete set of sessions on screen now. */
  show(sessionIds: readonly string[]): void {
    const next = new Set(sessionIds);
    const opened = sessionIds.filter((id) => !this.shown.has(id));
    const left = [...this.shown].filter((id) => !next.has(id));
    if (opened.length === 0 && left.length === 0) return;
    this.shown = next;
    for (const id of left) this.leave(id);
    this.closed = this.closed.filter((id) => !next.has(id)).concat(left);
    change(this.store, (draft) => {
      this.closed = keepClosed(draft.transcripts, this.closed);
      for (const id of opened) openTranscript(draft.transcripts, id);
    });
    for (const id of opened) void this.open(id);
  }

  /** The session the person looks at: its environment is watched more closely. */
  focus(sessionId: string | undefined): void {
    if (sessionId === this.focused) return;
    const previous = this.focused;
    this.focused = sessionId;
    if (previous && this.shown.has(previous)) this.tell("session.unfocus", previous);
    if (sessionId) this.tell("session.focus", sessionId);
  }

  /**
   * After a reconnect: everything shown is subscribed again, then listed. Resolves when all are subscribed; once
   * `over` says that this connection is history, nothing more is asked on another one.
   */
  async resume(over: () => boolean): Promise<void> {
    const subscribed = [...this.shown].map(async (id) => {
      change(this.store, (draft) => awaitNewest(draft.transcripts, id));
      const subscribed = await this.subscribeAgain(id, over);
      if (over()) return;
      if (subscribed) void this.list(id);
      else change(this.store, (draft) => failOpening(draft.transcripts, id));
    });
    await Promise.all(subscribed);
    if (this.focused && !over()) this.tell("session.focus", this.focused);
  }

  /** Subscribes and lists the newest rows again: states were skipped, or the person asked. */
  async reload(sessionId: string): Promise<void> {
    await this.open(sessionId);
  }

  async older(sessionId: string): Promise<void> {
    const transcript = this.store.getState().transcripts.bySession[sessionId];
    if (!transcript?.hasOlder || transcript.loading !== "none") return;
    const before = oldestSeq(transcript.rows);
    change(this.store, (draft) => {
      openTranscript(draft.transcripts, sessionId).loading = "older";
    });
    try {
      const page = await this.requests.send("message.list", {
        session_id: sessionId,
        limit: PAGE_ROWS,
        ...(before === undefined ? {} : { before }),
      });
      const older = { messages: page.messages, hasOlder: page.has_more };
      change(this.store, (draft) => receiveOlder(draft.transcripts, sessionId, older));
    } catch {
      change(this.store, (draft) => failOlder(draft.transcripts, sessionId));
    }
  }

  /** Text is missing before an append: one `message.get` in flight per message, which also tells the server. */
  async fetchMessage(gap: MessageAppended): Promise<void> {
    const key = gap.message_id;
    if (this.fetching.has(key)) return;
    this.fetching.add(key);
    try {
      const { message } = await this.requests.send("message.get", {
        session_id: gap.session_id,
        message_id: gap.message_id,
      });
      change(this.store, (draft) => receiveMessage(draft.transcripts, message));
    } catch {
      // The next reload of the session repairs it.
    } finally {
      this.fetching.delete(key);
    }
  }

  async queue(sessionId: string): Promise<void> {
    if (!this.shown.has(sessionId)) return;
    try {
      const { messages } = await this.requests.send("message.queue.list", { session_id: sessionId });
      change(this.store, (draft) => {
        for (const message of messages) receiveMessage(draft.transcripts, message);
      });
    } catch {
      // Each queued row also tells of itself; this list only renumbers them.
    }
  }

  private async open(sessionId: string): Promise<void> {
    change(this.store, (draft) => awaitNewest(draft.transcripts, sessionId));
    try {
      await this.subscribe(sessionId);
    } catch {
      // A list without a subscription would be true for a moment only. The next connection subscribes again.
      change(this.store, (draft) => failOpening(draft.transcripts, sessionId));
      return;
    }
    await this.list(sessionId);
  }

  private async subscribe(sessionId: string): Promise<void> {
    await this.requests.send("session.subscribe", { session_id: sessionId });
  }

  /** Returns whether it is subscribed; fails only when the connection goes. */
  private async subscribeAgain(sessionId: string, over: () => boolean): Promise<boolean> {
    for (let tries = 1; !over(); tries++) {
      try {
        await this.subscribe(sessionId);
        return true;
      } catch (failure) {
        if (!(failure instanceof RequestFailed) || failure.reason === "disconnected") throw failure;
        if (failure.error?.retry === "never" || tries === SUBSCRIBE_TRIES) return false;
      }
      await new Promise((resolve) => setTimeout(resolve, SUBSCRIBE_AGAIN_MS));
    }
    return false;
  }

  private leave(sessionId: string): void {
    if (this.focused === sessionId) this.focused = undefined;
    this.tell("session.unsubscribe", sessionId);
  }

  private tell(action: "session.focus" | "session.unfocus" | "session.unsubscribe", sessionId: string): void {
    // Without a connection there is nothing to tell: the next one starts without subscriptions.
    this.requests.send(action, { session_id: sessionId }).catch(() => undefined);
  }

  private list(sessionId: string): Promise<void> {
    return this.lists.run(sessionId, () => this.listOnce(sessionId));
  }

  private async listOnce(sessionId: string): Promise<void> {
    change(this.store, (draft) => beginNewest(draft.transcripts, sessionId));
    try {
      const [newest, queue] = await Promise.all([
        this.newestRows(sessionId),
        this.requests.send("message.queue.list", { session_id: sessionId }),
      ]);
      change(this.store, (draft) =>
        finishNewest(draft.transcripts, sessionId, { ...newest, queued: queue.messages }),
      );
    } catch {
      change(this.store, (draft) => failLoading(draft.transcripts, sessionId));
    }
  }

  /** Enough of the newest rows to cover what is held, without a gap. */
  private async newestRows(sessionId: string): Promise<{ messages: Message[]; hasOlder: boolean }> {
    const held = oldestSeq(this.store.getState().transcripts.bySession[sessionId]?.rows ?? {});
    const limit = held === undefined ? PAGE_ROWS : RELOAD_ROWS;
    const messages: Message[] = [];
    let before: number | undefined;
    for (let page = 0; page < RELOAD_PAGES; page++) {
      const answer = await this.requests.send("message.list", {
        session_id: sessionId,
        limit,
        ...(before === undefined ? {} : { before }),
      });
      messages.unshift(...answer.messages);
      before = answer.messages[0]?.seq;
      const covered = held === undefined || before === undefined || before <= held;
      if (!answer.has_more || covered) return { messages, hasOlder: answer.has_more };
    }
    return { messages, hasOlder: true };
  }
}

function oldestSeq(rows: Record<string, Message>): number | undefined {
  const seqs = Object.values(rows).flatMap((row) => (row.seq === undefined ? [] : [row.seq]));
  return seqs.length === 0 ? undefined : seqs.reduce((a, b) => Math.min(a, b));
}
