/** What a person can do with the queue of a session. Each change shows at once and is taken back when refused. */
import type { QueueWishes } from "~/store/queue";
import { change } from "~/store/store";
import { openTranscript, receiveMessage, removeMessage } from "~/store/transcripts";
import type { Message } from "~/wire/generated/Message";
import type { Client } from "./client";
import { fetchContent } from "./http";
import { OneAtATime } from "./one-at-a-time";
import { SEND_MS } from "./requests";

export class QueueCommands {
  private readonly orders = new OneAtATime();
  private readonly refused = new Map<string, unknown>();

  constructor(private readonly client: Client) {}

  /** The whole text of a queued prompt, to be edited: a long one is cut in lists. */
  async fullText(message: Message): Promise<string> {
    return message.content_truncated ? fetchContent(message.id) : message.content;
  }

  async rewrite(sessionId: string, messageId: string, content: string): Promise<void> {
    this.wish(sessionId, (wishes) => {
      wishes.texts[messageId] = content;
    });
    try {
      const payload = { session_id: sessionId, message_id: messageId, content };
      const { message } = await this.client.request("message.queue.update", payload, SEND_MS);
      this.receive([message]);
    } finally {
      this.wish(sessionId, (wishes) => {
        if (wishes.texts[messageId] === content) delete wishes.texts[messageId];
      });
    }
  }

  /** Puts the queue into this order. Orders go one at a time, so that the last one wanted is the last one set. */
  async reorder(sessionId: string, ids: readonly string[]): Promise<void> {
    this.wish(sessionId, (wishes) => {
      wishes.order = ids;
    });
    await this.orders.run(sessionId, () => this.sendOrder(sessionId));
    const failure = this.refused.get(sessionId);
    this.refused.delete(sessionId);
    // Whoever waited first says it; one refusal is one notice.
    if (failure !== undefined) throw failure;
  }

  private async sendOrder(sessionId: string): Promise<void> {
    const order = this.client.store.getState().transcripts.bySession[sessionId]?.wishes.order;
    if (!order) return;
    const settle = () =>
      this.wish(sessionId, (wishes) => {
        if (wishes.order?.join() === order.join()) wishes.order = undefined;
      });
    try {
      const payload = { session_id: sessionId, message_ids: [...order] };
      const { messages } = await this.client.request("message.queue.reorder", payload, SEND_MS);
      this.receive(messages);
      settle();
    } catch (failure) {
      settle();
      this.refused.set(sessionId, failure);
      void this.client.sessions.queue(sessionId);
    }
  }

  async remove(sessionId: string, messageId: string): Promise<void> {
    this.wish(sessionId, (wishes) => {
      wishes.gone[messageId] = true;
    });
    try {
      const payload = { session_id: sessionId, message_id: messageId };
      await this.client.request("message.queue.remove", payload);
      change(this.client.store, (draft) => removeMessage(draft.transcripts, sessionId, messageId));
    } finally {
      this.wish(sessionId, (wishes) => {
        delete wishes.gone[messageId];
      });
    }
  }

  /** Stops the open turn, if there is one, and sends this prompt next. */
  async sendNow(sessionId: string, messageId: string): Promise<void> {
    const payload = { session_id: sessionId, message_id: messageId };
    const { message } = await this.client.request("message.queue.send_now", payload, SEND_MS);
    this.receive([message]);
  }

  private receive(messages: readonly Message[]): void {
    change(this.client.store, (draft) => {
      for (const message of messages) receiveMessage(draft.transcripts, message);
    });
  }

  private wish(sessionId: string, recipe: (wishes: QueueWishes) => void): void {
    change(this.client.store, (draft) => {
      recipe(openTranscript(draft.transcripts, sessionId).wishes);
    });
  }
}
