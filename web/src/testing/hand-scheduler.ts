import type { FrameScheduler } from "~/socket/frame-batch";

/** Frames that come when the test says so. */
export class HandScheduler {
  private waiting: Array<() => void> = [];

  readonly schedule: FrameScheduler = (flush) => {
    this.waiting.push(flush);
    return () => {
      this.waiting = this.waiting.filter((other) => other !== flush);
    };
  };

  get pending(): number {
    return this.waiting.length;
  }

  frame(): void {
    for (const flush of this.waiting.splice(0)) flush();
  }
}
