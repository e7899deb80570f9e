import type { CDPSession, Locator, Page } from "@playwright/test";

/** How many places on its way the page hears of. */
const STEPS = 8;

/** A finger on the page: the browser itself makes the page's events of it, scrolling included. */
export class Finger {
  private constructor(private readonly devtools: CDPSession) {}

  static async on(page: Page): Promise<Finger> {
    return new Finger(await page.context().newCDPSession(page));
  }

  /** Puts the finger down in the middle of one thing, draws it to the middle of another, and lifts it. */
  async drag(from: Locator, to: Locator): Promise<void> {
    await this.down(from);
    await this.draw(from, to);
    await this.lift();
  }

  async down(on: Locator): Promise<void> {
    await this.touch("touchStart", await middle(on));
  }

  async draw(from: Locator, to: Locator): Promise<void> {
    const [start, end] = [await middle(from), await middle(to)];
    for (let step = 1; step <= STEPS; step++) {
      const part = step / STEPS;
      const [x, y] = [start.x + (end.x - start.x) * part, start.y + (end.y - start.y) * part];
      await this.touch("touchMove", { x, y });
    }
  }

  async lift(): Promise<void> {
    await this.devtools.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  }

  private async touch(type: "touchStart" | "touchMove", point: { x: number; y: number }): Promise<void> {
    await this.devtools.send("Input.dispatchTouchEvent", { type, touchPoints: [point] });
  }
}

async function middle(of: Locator): Promise<{ x: number; y: number }> {
  const box = await of.boundingBox();
  if (!box) throw new Error("it is not on screen");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}
