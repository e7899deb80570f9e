import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, type Page } from "@playwright/test";
import { Api } from "./support/api.ts";
import { conversation, openChanges, openChat, say } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { SentFrames } from "./support/frames.ts";
import { newTask } from "./support/new-task.ts";

import { expectTotals, openRowMenu, openSwitcher, openTask, row, switcher } from "./support/switcher.ts";

const ASKS = "Write the notes";
const STREAMS = "Explain the module";

/** The whole of what the product is for, by hand, with real agent processes in real worktrees. */
test("WEB-01 GIT-01 API-01: the main job, from an empty server to an answer after a restart", async ({
  app,
  server,
  repository,
  gates,
  browser,
}) => {
  test.setTimeout(120_000);
  await addFirstRepository(app, repository.path);

  await newTask(app, {
    title: ASKS,
    prompt: `/say I will write them.\n${gates.wait("ask")}\n/permission Write NOTES.md as edit\n/edit NOTES.md one\\ntwo\\n\n/say They are written.`,
  });
  await expect(conversation(app)).toContainText("I will write them.");
  await newTask(app, { title: STREAMS, prompt: "/stream 10000 12 40" });
  await expect(conversation(app)).toContainText("00000001");
  const api = await Api.open(browser, server);

  await test.step("the row says who needs a person, unopened", async () => {
    const sent = new SentFrames(app);
    await app.reload();
    await expect(conversation(app)).toContainText("00000001");
    await openSwitcher(app);
    await expect(row(app, ASKS)).toContainText("Working");
    await gates.open("ask");
    await expect(row(app, ASKS)).toContainText("Permission");
    await expect(row(app, STREAMS)).toContainText("Working");
    await expect(app).toHaveTitle(/^\(1\)/);
    const menu = await openRowMenu(app, ASKS);
    await expect(menu).toContainText("Write NOTES.md");
    await menu.getByRole("menuitem", { name: "Allow", exact: true }).click();
    await expect(row(app, ASKS)).toContainText("Turn finished");
    const streaming = (await api.titled(STREAMS)).status_summary?.primary_session?.id;
    expect(new Set(sent.subscribed())).toEqual(new Set([streaming]));
  });

  await test.step("the file changed, and every place counts the same", async () => {
    const [worktree = ""] = await api.worktrees(ASKS);
    expect(await readFile(join(worktree, "NOTES.md"), "utf8")).toBe("one\ntwo\n");
    await expectTotals(row(app, ASKS), 2, 0);
    await openTask(app, ASKS);
    await expect(conversation(app)).toContainText("They are written.");
    const changes = await openChanges(app);
    await expectTotals(changes, 2, 0);
    await expect(changes.getByRole("list", { name: "Changed files" })).toContainText("NOTES.md");
    await openChat(app);
  });

  await test.step("an agent that streams stops when told", async () => {
    await openTask(app, STREAMS);
    await app.getByRole("button", { name: "Stop", exact: true }).click();
    await expect(app.getByRole("button", { name: "Send message" })).toBeVisible();
    await openSwitcher(app);
    await expect(row(app, STREAMS)).not.toContainText("Working");
  });

  await test.step("after a restart everything is there, and the next prompt goes on", async () => {
    await server.stop();
    await server.start();
    await expect(switcher(app).getByText("connected", { exact: true })).toBeVisible({ timeout: 20_000 });
    await expectTotals(row(app, ASKS), 2, 0);
    await expect(row(app, ASKS)).toContainText("Turn finished");
    await expect(row(app, STREAMS)).not.toContainText("Working");
    await openTask(app, ASKS);
    await expect(conversation(app)).toContainText("They are written.");
    await say(app, "/say Welcome back.");
    await expect(conversation(app).getByRole("article", { name: "Agent" }).last()).toHaveText(
      "Welcome back.",
    );
  });
});

async function addFirstRepository(app: Page, path: string): Promise<void> {
  await expect(app.getByRole("heading", { name: "Many agents. One look." })).toBeVisible();
  await app.getByLabel("Folder on the server").fill(path);
  await app.getByRole("button", { name: "Look" }).click();
  await app.getByRole("button", { name: "Add", exact: true }).click();
  await expect(app.getByLabel("What should be done?")).toBeVisible();
}
