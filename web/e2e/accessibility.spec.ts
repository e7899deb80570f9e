import { expect } from "@playwright/test";
import { expectAccessible } from "./support/axe.ts";
import { conversation, openChanges, openChat, permission } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { expectManyStates, makeManyStates } from "./support/many-states.ts";
import { openRowMenu, openSwitcher, openTask, row } from "./support/switcher.ts";

test.use({ contextOptions: { reducedMotion: "reduce" } });

test("the first run and the new-task dialog have no serious accessibility finding", async ({ app }) => {
  await expect(app.getByRole("heading", { name: "Many agents. One look." })).toBeVisible();
  await expectAccessible(app, "first run");
  await openSwitcher(app);
  await app.getByRole("button", { name: "New task" }).first().click();
  await expect(app.getByRole("dialog", { name: "New task" })).toBeVisible();
  await expectAccessible(app, "new task");
});

test("rows, a conversation and its changes have no serious accessibility finding", async ({
  app,
  api,
  gates,
}) => {
  await makeManyStates(api, gates);
  await expectManyStates(app);
  await expectAccessible(app, "rows");
  await openRowMenu(app, "Asks");
  await expectAccessible(app, "menu of a row");
  await app.keyboard.press("Escape");
  await openTask(app, "Asks");
  await expect(permission(app, "Write NOTES.md")).toBeVisible();
  await expectAccessible(app, "permission");
  await openTask(app, "Finished");
  await expect(conversation(app)).toContainText("Written.");
  await expectAccessible(app, "conversation");
  const changes = await openChanges(app);
  await changes.getByRole("button", { name: /NOTES\.md/ }).click();
  await expect(changes.getByRole("table")).toBeVisible();
  await expectAccessible(app, "changes");
  await openChat(app);
  await openSwitcher(app);
  await expect(row(app, "Finished")).toBeVisible();
});

test("no page of the settings has a serious accessibility finding", async ({ app, api }) => {
  await api.addProfile({ name: "Another", command: "another-agent", args: [], env: {} });
  await openSwitcher(app);
  await app.getByRole("button", { name: "Settings", exact: true }).click();
  for (const section of ["Repositories", "Agents", "Appearance", "About"]) {
    await app.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: section }).click();
    await expect(app.getByRole("heading", { name: section, level: 1 })).toBeVisible();
    await expectAccessible(app, section);
  }
});
