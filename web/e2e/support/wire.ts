import type { Page } from "@playwright/test";
import type { Frame } from "~/wire/generated/Frame";

/** The page's connection in the test's hands: what goes through it can be kept back or cut. */
export class Wire {
  /** Requests of these actions cut the connection instead of reaching the server. */
  readonly cutBefore = new Set<string>();
  /** The next answer to each of these actions is lost with the connection. */
  readonly cutAfter = new Set<string>();
  /** Requests of these actions wait for `release`. */
  readonly hold = new Set<string>();
  /** Requests that reached the server, in their order. */
  readonly reached: Frame[] = [];
  private held: Array<() => void> = [];

  /** Every connection that the page opens from its next load on. */
  static async on(page: Page): Promise<Wire> {
    const wire = new Wire();
    await page.routeWebSocket(/\/ws$/, (socket) => {
      const server = socket.connectToServer();
      const asked = new Map<string | undefined, string>();
      socket.onMessage((text) => {
        const frame = JSON.parse(text.toString()) as Frame;
        if (wire.cutBefore.has(frame.action)) {
          void socket.close();
          void server.close();
          return;
        }
        const send = () => {
          asked.set(frame.id, frame.action);
          wire.reached.push(frame);
          server.send(text);
        };
        if (wire.hold.has(frame.action)) wire.held.push(send);
        else send();
      });
      server.onMessage((text) => {
        const frame = JSON.parse(text.toString()) as Frame;
        const action = frame.type === "response" ? asked.get(frame.id) : undefined;
        if (action !== undefined && wire.cutAfter.delete(action)) {
          void socket.close();
          void server.close();
        } else socket.send(text);
      });
    });
    await page.reload();
    return wire;
  }

  release(): void {
    this.hold.clear();
    for (const send of this.held.splice(0)) send();
  }

  /** The ids under which messages reached the server. */
  messageIds(): string[] {
    return this.reached
      .filter((frame) => frame.action === "message.add")
      .map((frame) => (frame.payload as { client_message_id: string }).client_message_id);
  }
}
