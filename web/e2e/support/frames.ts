import type { Page } from "@playwright/test";
import type { Frame } from "~/wire/generated/Frame";

/** What the page says to the server, over every socket that it opens from now on. */
export class SentFrames {
  private readonly frames: Frame[] = [];

  constructor(page: Page) {
    page.on("websocket", (socket) => {
      socket.on("framesent", ({ payload }) => this.frames.push(JSON.parse(payload.toString())));
    });
  }

  actions(): string[] {
    return this.frames.map((frame) => frame.action);
  }

  /** The sessions that the page subscribed to. */
  subscribed(): string[] {
    return this.frames
      .filter((frame) => frame.action === "session.subscribe")
      .map((frame) => (frame.payload as { session_id: string }).session_id);
  }
}
