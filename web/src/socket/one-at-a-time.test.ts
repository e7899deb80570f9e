import { expect, test, vi } from "vitest";
import { OneAtATime } from "./one-at-a-time";

test("wishes during a run make it run once more, and wait for that", async () => {
  const lists = new OneAtATime();
  const ends: Array<() => void> = [];
  const done: string[] = [];
  const wish = (name: string, subject = "s1") => {
    const ran = lists.run(subject, () => new Promise<void>((resolve) => ends.push(resolve)));
    void ran.then(() => done.push(name));
  };
  const started = (count: number) => vi.waitFor(() => expect(ends.length).toBe(count));

  wish("first");
  await started(1);
  wish("second");
  wish("third");
  wish("elsewhere", "s2");
  await started(2);
  ends[0]?.();
  await started(3);
  expect(done).toEqual([]);
  ends[2]?.();
  await vi.waitFor(() => expect(done).toEqual(["first", "second", "third"]));
  wish("later");
  await started(4);
});
