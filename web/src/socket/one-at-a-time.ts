/**
 * At most one piece of work per subject. A wish for one that runs already makes it run once more afterwards, however
 * many wish it: two lists in flight would share what the store remembers of the time they take.
 */
export class OneAtATime {
  private readonly running = new Map<string, Promise<void>>();
  private readonly again = new Set<string>();

  /** Resolves when `work` ran from start to end after this call. `work` never rejects. */
  run(subject: string, work: () => Promise<void>): Promise<void> {
    const running = this.running.get(subject);
    if (running) {
      this.again.add(subject);
      return running;
    }
    const started = this.repeat(subject, work);
    this.running.set(subject, started);
    return started;
  }

  private async repeat(subject: string, work: () => Promise<void>): Promise<void> {
    do {
      this.again.delete(subject);
      await work();
    } while (this.again.has(subject));
    this.running.delete(subject);
  }
}
