import type { FrameScheduler } from "./frame-batch";

/** A hidden tab gets no animation frames; its timers still run. */
const HIDDEN_FLUSH_MS = 250;

/** The next animation frame, or a timer when none comes: a tab may be hidden while a frame is awaited. */
export function frameScheduler(page: Window): FrameScheduler {
  return (flush) => {
    const run = () => {
      cancel();
      flush();
    };
    const frame = page.requestAnimationFrame(run);
    const timer = page.setTimeout(run, HIDDEN_FLUSH_MS);
    const cancel = () => {
      page.cancelAnimationFrame(frame);
      page.clearTimeout(timer);
    };
    return cancel;
  };
}
