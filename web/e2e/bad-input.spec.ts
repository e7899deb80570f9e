import { expect } from "@playwright/test";
import { conversation } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { newTask } from "./support/new-task.ts";
import { openRowMenu, openSwitcher, openTask, row } from "./support/switcher.ts";

test("a folder that is no repository is refused where it was typed", async ({ app, repository, gates }) => {
  const folder = app.getByLabel("Folder on the server");
  const look = app.getByRole("button", { name: "Look" });
  for (const path of [gates.folder, `${repository.path}/missing`]) {
    await folder.fill(path);
    await look.click();
    await expect(folder).toHaveAttribute("aria-invalid", "true");
    await expect(folder).toHaveAccessibleDescription(/\S/);
    await expect(app.getByRole("button", { name: "Add", exact: true })).toBeHidden();
  }
  await folder.fill(repository.path);
  await look.click();
  await app.getByRole("button", { name: "Add", exact: true }).click();
  await expect(app.getByLabel("What should be done?")).toBeVisible();
});

test("a base branch that went away is an error on the row, and another one is chosen there", async ({
  app,
  api,
  repository,
}) => {
  await repository.git("branch", "develop");
  await repository.git("branch", "release");
  await openSwitcher(app);
  await app.getByRole("button", { name: "New task" }).first().click();
  const dialog = app.getByRole("dialog", { name: "New task" });
  await dialog.getByLabel("What should be done?").fill("/say On the right branch.");
  await dialog.getByLabel("Title").fill("Notes");
  await dialog.getByLabel("Base branch of sample").selectOption("release");
  await repository.git("branch", "--delete", "release");
  await dialog.getByRole("button", { name: "Create and start" }).click();

  await openSwitcher(app);
  await expect(row(app, "Notes")).toContainText("Base branch missing");
  const menu = await openRowMenu(app, "Notes");
  await menu.getByRole("menuitem", { name: "Choose base branch…" }).click();
  const choose = app.getByRole("dialog", { name: "Choose a base branch" });
  await choose.getByLabel("Base branch").selectOption("develop");
  await choose.getByRole("button", { name: "Start again" }).click();
  await openSwitcher(app);
  await expect(row(app, "Notes")).toContainText("Turn finished");
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("On the right branch.");
  const [branch] = (await api.titled("Notes")).repositories.map((chosen) => chosen.base_branch);
  expect(branch).toBe("develop");
});

test("a missing base branch is left for the default one from the task itself", async ({ app, api }) => {
  await api.addTask("Notes", "/say On the default branch.", { baseBranch: "release" });
  await openTask(app, "Notes");
  await expect(app.getByRole("main")).toContainText("Base branch missing");
  await app.getByRole("button", { name: "Try again" }).click();
  await expect(conversation(app)).toContainText("On the default branch.");
});

test("an agent that is not there is an error on the row that names it", async ({ app, api }) => {
  await openSwitcher(app);
  await app.getByRole("button", { name: "Settings", exact: true }).click();
  await app.getByRole("link", { name: "Agents" }).click();
  await app.getByRole("button", { name: "Add another agent" }).click();
  const profile = app.getByRole("dialog", { name: "Add an agent" });
  await profile.getByLabel("Name").fill("Ghost");
  await profile.getByLabel("Command").fill("/nowhere/ghost-agent");
  await profile.getByRole("button", { name: "Save" }).click();
  await expect(app.getByRole("list", { name: "Agents", exact: true })).toContainText("Ghost");

  await newTask(app, { title: "Notes", prompt: "/say Never said.", agent: "Ghost" });
  await openSwitcher(app);
  await expect(row(app, "Notes")).toContainText("Agent unavailable");
  await expect(row(app, "Notes").getByRole("img", { name: /^Error: .*ghost-agent/ })).toBeVisible();
  expect((await api.titled("Notes")).status_summary?.primary_session?.state).not.toBe("RUNNING");
});

test("an agent that ends at once, and one that prints noise", async ({ app, api }) => {
  const demo = { command: "flightstrip:demo-agent", env: {} };
  const broken = await api.addProfile({ ...demo, name: "Broken", args: ["--exit-at-once", "3"] });
  const noisy = await api.addProfile({ ...demo, name: "Noisy", args: ["--noise"] });
  await api.addTask("Broken", "/say Never said.", { agent: broken });
  await api.addTask("Noisy", "/say All the same.", { agent: noisy });
  await openSwitcher(app);
  await expect(row(app, "Broken").getByRole("img", { name: /^Error: / })).toBeVisible();
  await expect(row(app, "Broken")).not.toContainText("Working");
  await expect(row(app, "Noisy")).toContainText("Turn finished");
  await openTask(app, "Noisy");
  await expect(conversation(app)).toContainText("All the same.");
});

test("an error that was seen is put away from the row", async ({ app, api }) => {
  await api.addTask("Notes", "/say Almost.\n/exit 3");
  await openSwitcher(app);
  await expect(row(app, "Notes")).toContainText("Agent exited");
  const menu = await openRowMenu(app, "Notes");
  await menu.getByRole("menuitem", { name: "Dismiss error" }).click();
  await expect(row(app, "Notes")).not.toContainText("Agent exited");
});
