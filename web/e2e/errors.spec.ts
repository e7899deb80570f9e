import { expect, type Page } from "@playwright/test";
import type { Api } from "./support/api.ts";
import { conversation } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { SentFrames } from "./support/frames.ts";
import { isPhone, openRowMenu, openSwitcher, openTask, row } from "./support/switcher.ts";

const DESKTOP = { viewport: { width: 1440, height: 900 }, isMobile: false, hasTouch: false };

/** The mark of an error on a row, independent of the state beside it. */
function mark(page: Page, title: string) {
  return row(page, title).getByRole("img", { name: /^Error: / });
}

/** Makes a task whose agent ends with an error. */
async function failing(api: Api, title: string): Promise<string> {
  const { id } = await api.addTask(title, "/say Almost.\n/exit 3");
  await expect
    .poll(async () => (await api.task(id)).status_summary?.active_error?.category)
    .toBe("agent_exited");
  return id;
}

test("S-07 ERR-04: an error that was dismissed clears on the row, and the task stays as it was", async ({
  app,
  api,
}) => {
  await failing(api, "Notes");
  await failing(api, "Other");
  const sent = new SentFrames(app);
  await openSwitcher(app);
  await expect(mark(app, "Notes")).toBeVisible();
  await expect(row(app, "Notes")).toContainText("Agent exited");
  const menu = await openRowMenu(app, "Notes");
  await menu.getByRole("menuitem", { name: "Dismiss error" }).click();
  await openSwitcher(app);
  await expect(mark(app, "Notes")).toBeHidden();
  await expect(row(app, "Notes")).toContainText("Turn finished");
  await expect(mark(app, "Other")).toBeVisible();
  expect(sent.subscribed()).toEqual([]);
});

test("ERR-03: a session that was closed offers nothing that would only be refused", async ({ app, api }) => {
  const { id } = await api.addTask("Notes", "/exit 3");
  await openTask(app, "Notes");
  await expect(app.getByRole("button", { name: "Try again" })).toBeVisible();
  await expect(conversation(app).getByRole("button", { name: "Send again" })).toBeVisible();
  const sessionId = (await api.task(id)).status_summary?.primary_session?.id ?? "";
  await api.request("session.close", { session_id: sessionId });
  await expect(app.getByRole("button", { name: "Try again" })).toBeHidden();
  await expect(conversation(app).getByRole("button", { name: "Send again" })).toBeHidden();
  await expect(conversation(app)).toContainText("before it was certain that this arrived");
  await expect(app.getByRole("button", { name: "Dismiss" })).toBeVisible();
  const menu = await openRowMenu(app, "Notes");
  await expect(menu.getByRole("menuitem", { name: "Dismiss error" })).toBeVisible();
  await expect(menu.getByRole("menuitem", { name: "Try again" })).toBeHidden();
});

test("S-07 ERR-04: an error clears on the row with the agent's next answer, not with its thoughts", async ({
  app,
  api,
  gates,
}) => {
  const task = await failing(api, "Notes");
  await failing(api, "Other");
  const sent = new SentFrames(app);
  await openSwitcher(app);
  await expect(mark(app, "Notes")).toBeVisible();
  await api.say(task, `/think Once more.\n/tool read Look\n${gates.wait("answer")}\n/say Done.`);
  await expect.poll(() => rowKinds(api, task)).toEqual(expect.arrayContaining(["thought", "tool_call"]));
  await expect(mark(app, "Notes")).toBeVisible();
  await gates.open("answer");
  await expect(mark(app, "Notes")).toBeHidden();
  await expect(row(app, "Notes")).toContainText("Turn finished");
  await expect(mark(app, "Other")).toBeVisible();
  expect(sent.subscribed()).toEqual([]);
});

/** The kinds of rows in the transcript of the task's session. */
async function rowKinds(api: Api, taskId: string): Promise<string[]> {
  const sessionId = (await api.task(taskId)).status_summary?.primary_session?.id ?? "";
  const { messages } = await api.request("message.list", { session_id: sessionId });
  return messages.map(({ type }) => type);
}

test("S-08 ERR-02: a start that stops before there is a session shows its error on the row", async ({
  app,
  api,
  repository,
}) => {
  const { id } = await api.addTask("Notes", "/say On it.", { baseBranch: "release" });
  await openSwitcher(app);
  await expect(mark(app, "Notes")).toBeVisible();
  await expect(row(app, "Notes")).toContainText("Base branch missing");
  const summary = (await api.task(id)).status_summary;
  expect(summary?.active_error).not.toHaveProperty("session_id");
  expect(summary?.primary_session).toBeUndefined();
  const menu = await openRowMenu(app, "Notes");
  await expect(menu.getByRole("menuitem", { name: "Try again" })).toBeVisible();
  await expect(menu.getByRole("menuitem", { name: "Dismiss error" })).toHaveCount(0);
  await app.keyboard.press("Escape");
  // The branch is there now: the same start goes on.
  await repository.git("branch", "release");
  const again = await openRowMenu(app, "Notes");
  await again.getByRole("menuitem", { name: "Try again" }).click();
  await openSwitcher(app);
  await expect(mark(app, "Notes")).toBeHidden();
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("On it.");
});

test("S-10 ERR-05: deleting the session that owns the error clears both switchers and keeps the rest", async ({
  app,
  api,
  browser,
  server,
}) => {
  test.skip(!isPhone(app), "one test compares both");
  const task = await failing(api, "Notes");
  const launched = await api.request("session.launch", {
    task_id: task,
    client_id: "replacement",
    prompt: "/say I am the replacement.",
    client_message_id: "replacement-1",
    environment: "task",
  });
  const desktop = await browser.newPage(DESKTOP);
  await desktop.goto(await server.signInAddress());
  for (const page of [app, desktop]) {
    await openSwitcher(page);
    await expect(mark(page, "Notes")).toBeVisible();
  }
  await openTask(desktop, "Notes");
  const tabs = desktop.getByRole("tablist", { name: "Sessions" }).getByRole("tab");
  await expect(tabs).toHaveCount(2);
  await tabs.first().click();
  await desktop.getByRole("button", { name: /^Actions for session/ }).click();
  await desktop.getByRole("menuitem", { name: "Delete session…" }).click();
  await desktop.getByRole("dialog").getByRole("button", { name: "Delete session" }).click();
  for (const page of [app, desktop]) {
    await expect(mark(page, "Notes")).toBeHidden();
    await expect(row(page, "Notes")).toContainText("Turn finished");
  }
  await expect(tabs).toHaveCount(1);
  await expect(conversation(desktop)).toContainText("I am the replacement.");
  expect((await api.task(task)).status_summary?.primary_session?.id).toBe(launched.session.id);
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("I am the replacement.");
  await desktop.close();
});
