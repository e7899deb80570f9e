/**
 * Prompts of this page from the moment a person sends them to the moment their fate is certain (WEB-04).
 *
 * They go one at a time per session, since the server may take up two at once and store the later one first. One with
 * files waits for them, and those after it wait too. Each is kept by the browser until it is stored, so that a reload loses none.
 */
import { type AppStore, change } from "~/store/store";
import { dropSend, receiveMessage, type Send, setSend } from "~/store/transcripts";
import { uploadsOf } from "~/store/uploads";
import type { Attachment } from "~/wire/generated/Attachment";
import type { Message } from "~/wire/generated/Message";
import type { MessageAdd } from "~/wire/generated/MessageAdd";
import { forgetKeptSend, keepSend, readOutbox } from "./kept-files";
import { otherPages, PAGE } from "./pages";
import { failureText } from "./requests";
import { sendMessage } from "./send-message";
import type { Uploads } from "./uploads";

/** What the outbox needs of the client. */
export interface OutboxPort {
  readonly store: AppStore;
  request(action: "message.add", payload: MessageAdd, ms: number): Promise<{ message: Message }>;
  request(action: "message.list", payload: { session_id: string }): Promise<{ messages: Message[] }>;
  waitReady(ms: number): Promise<boolean>;
}

type Prompt = Pick<Send, "id" | "content" | "files">;

export class Outbox {
  private readonly store: AppStore;
  /** The last prompt of each session that is on its way; it never rejects. */
  private readonly lines = new Map<string, Promise<void>>();
  private readonly restored = new Set<string>();

  constructor(
    private readonly port: OutboxPort,
    private readonly uploads: Uploads,
  ) {
    this.store = port.store;
  }

  /** Sends a prompt, or tries one again: with the same id, and with the same files under the same ids. */
  async send(taskId: string, sessionId: string, prompt: Prompt): Promise<void> {
    const sending = this.sendAfter(this.lines.get(sessionId), taskId, sessionId, prompt);
    this.lines.set(sessionId, sending);
    await sending;
    if (this.lines.get(sessionId) === sending) this.lines.delete(sessionId);
  }

  private async sendAfter(
    before: Promise<void> | undefined,
    taskId: string,
    sessionId: string,
    prompt: Prompt,
  ): Promise<void> {
    let attachments: Attachment[] = [];
    if (before || prompt.files.length > 0) {
      this.mark(sessionId, prompt, "uploading");
      this.keep(sessionId, prompt, this.whyUnsent(prompt));
      const ready = this.uploads.ready(sessionId, prompt.files);
      // A failure of its files is said when its turn comes.
      ready.catch(() => undefined);
      await before;
      try {
        attachments = await ready;
      } catch (failure) {
        if (this.waits(sessionId, prompt)) this.mark(sessionId, prompt, "refused", failureText(failure));
        return;
      }
      if (!this.waits(sessionId, prompt)) return;
    }
    await this.sendNow(taskId, sessionId, prompt, attachments);
  }

  /** Gives up a prompt that was refused or whose fate is unknown. Its files go where `keepFiles` says. */
  forget(sessionId: string, prompt: Prompt, keepFiles = false): void {
    change(this.store, (draft) => dropSend(draft.transcripts, sessionId, prompt.id));
    forgetKeptSend(sessionId, prompt.id);
    if (keepFiles) this.uploads.putBack(sessionId, prompt.files);
    else for (const id of prompt.files) this.uploads.remove(sessionId, id);
  }

  /**
   * Brings back what was on its way when the page was left, once the conversation is loaded: what is not in it was
   * refused, or its fate is unknown, and trying it again is safe. Nothing is sent without the person.
   */
  async restore(sessionId: string): Promise<void> {
    if (this.restored.has(sessionId)) return;
    this.restored.add(sessionId);
    const elsewhere = await otherPages();
    const transcript = this.store.getState().transcripts.bySession[sessionId];
    for (const { id, content, attachments, problem, page } of readOutbox(sessionId)) {
      // Another tab is at it.
      if (page !== undefined && elsewhere.has(page)) continue;
      if (transcript?.rows[id]) forgetKeptSend(sessionId, id);
      else if (!transcript?.sends.some((send) => send.id === id)) {
        const files = this.uploads.adopt(attachments);
        this.mark(sessionId, { id, content, files }, problem === undefined ? "unknown" : "refused", problem);
      }
    }
  }

  /** What to say after a reload of one that waits now: files that were not there are not kept. */
  private whyUnsent({ files }: Prompt): string {
    const missing = uploadsOf(this.store.getState().uploads, files).filter((upload) => !upload.attachment);
    const names = missing.map(({ name }) => name).join(", ");
    return names === ""
      ? "The page was left before this was sent."
      : `The page was left before this was sent, and without ${names}: edit it to attach that again.`;
  }

  /** The person has not taken it back while its files were on their way. */
  private waits(sessionId: string, { id }: Prompt): boolean {
    const sends = this.store.getState().transcripts.bySession[sessionId]?.sends ?? [];
    return sends.some((send) => send.id === id);
  }

  private async sendNow(
    taskId: string,
    sessionId: string,
    prompt: Prompt,
    attachments: readonly Attachment[],
  ): Promise<void> {
    this.mark(sessionId, prompt, "sending");
    this.keep(sessionId, prompt);
    const ids = attachments.map(({ id }) => id);
    const outcome = await sendMessage(
      {
        add: async (payload, ms) => (await this.port.request("message.add", payload, ms)).message,
        look: (session, message) => this.lookFor(session, message),
        waitReady: (ms) => this.port.waitReady(ms),
      },
      {
        task_id: taskId,
        session_id: sessionId,
        client_message_id: prompt.id,
        content: prompt.content,
        ...(ids.length === 0 ? {} : { attachments: ids }),
      },
    );
    if (outcome.kind === "unknown") this.mark(sessionId, prompt, "unknown");
    else if (outcome.kind === "refused") {
      this.mark(sessionId, prompt, "refused", outcome.message);
      this.keep(sessionId, prompt, outcome.message);
    } else this.stored(sessionId, prompt, outcome.message);
  }

  private mark(sessionId: string, prompt: Prompt, state: Send["state"], problem?: string): void {
    const { id, content, files } = prompt;
    change(this.store, (draft) =>
      setSend(draft.transcripts, sessionId, { id, content, files, state, problem }),
    );
  }

  private keep(sessionId: string, { id, content, files }: Prompt, problem?: string): void {
    const uploads = uploadsOf(this.store.getState().uploads, files);
    const attachments = uploads.map((upload) => upload.attachment).filter((held) => held !== undefined);
    keepSend(sessionId, { id, content, attachments, problem, page: PAGE });
  }

  private stored(sessionId: string, prompt: Prompt, message: Message | undefined): void {
    change(this.store, (draft) => {
      if (message) receiveMessage(draft.transcripts, message);
      dropSend(draft.transcripts, sessionId, prompt.id);
    });
    forgetKeptSend(sessionId, prompt.id);
    this.uploads.forget(prompt.files);
  }

  private async lookFor(sessionId: string, messageId: string): Promise<boolean> {
    const held = () => this.store.getState().transcripts.bySession[sessionId]?.rows[messageId] !== undefined;
    if (held()) return true;
    const { messages } = await this.port.request("message.list", { session_id: sessionId });
    return held() || messages.some((message) => message.id === messageId);
  }
}
