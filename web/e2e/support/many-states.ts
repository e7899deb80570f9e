import { expect, type Page } from "@playwright/test";
import type { Api } from "./api.ts";
import type { Gates } from "./gates.ts";
import { openSwitcher, row } from "./switcher.ts";

/** Every task made here and what its row must say, from the first made to the last. */
export const STATES: ReadonlyArray<[title: string, ...words: string[]]> = [
  ["Not begun", "Not started"],
  ["Finished", "Turn finished", "2 lines added,"],
  ["Put away", "Done"],
  ["At work", "Working"],
  ["With a queue", "Working", "2 queued"],
  ["With helpers", "In background", "2 subagents"],
  ["Ended early", "Agent exited"],
  ["Without a base", "Base branch missing"],
  ["Asks", "Permission"],
];

/** Makes a task in every state, with agents at work that wait for the gate `end`. */
export async function makeManyStates(api: Api, gates: Gates): Promise<void> {
  await api.addTask("Not begun");
  await api.addTask("Finished", "/edit NOTES.md one\\ntwo\\n\n/say Written.");
  const away = await api.addTask("Put away", "/say All good.");
  await api.addTask("At work", `/say Looking.\n${gates.wait("end")}`);
  const queue = await api.addTask("With a queue", `/say Looking.\n${gates.wait("end")}`);
  await api.addTask("With helpers", "/subagent start one\n/subagent start two\n/say They look.");
  await api.addTask("Ended early", "/stderr out of tokens\n/exit 3");
  await api.addTask("Without a base", "/say Never said.", { baseBranch: "release/9" });
  await api.addTask("Asks", "/permission Write NOTES.md as edit");
  await expect
    .poll(async () => (await api.task(queue.id)).status_summary?.foreground_activity)
    .toBe("generating");
  await expect.poll(async () => (await api.task(away.id)).state).toBe("REVIEW");
  await api.finish(away.id);
  await api.say(queue.id, "/say one");
  await api.say(queue.id, "/say two");
}

/** Waits until every row says what its task is about. */
export async function expectManyStates(page: Page): Promise<void> {
  await openSwitcher(page);
  for (const [title, ...words] of STATES) {
    for (const word of words) await expect(row(page, title)).toContainText(word);
  }
}
