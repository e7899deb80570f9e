import { expect, type Page } from "@playwright/test";
import { composer, conversation, openChanges, say } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { openSwitcher, openTask, row } from "./support/switcher.ts";

test("model and mode are chosen from what the agent offers, and outlive its process", async ({
  app,
  api,
}) => {
  await api.addTask("Notes", "/say Ready.");
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("Ready.");
  await choose(app, /^Model: Demo quick/, "Demo thorough");
  await expect(app.getByRole("button", { name: "Model: Demo thorough" })).toBeVisible();
  await choose(app, /^Mode: Ask first/, "Automatic");
  await expect(app.getByRole("button", { name: "Mode: Automatic" })).toBeVisible();

  await say(app, "/permission Write NOTES.md as edit\n/edit NOTES.md one\n/say Nobody was asked.");
  await expect(conversation(app)).toContainText("Nobody was asked.");
  await expect(await openChanges(app)).toContainText("NOTES.md");
  await app.reload();
  await openTask(app, "Notes");
  await expect(app.getByRole("button", { name: "Model: Demo thorough" })).toBeVisible();
});

async function choose(app: Page, selector: RegExp, choice: string): Promise<void> {
  await app.getByRole("button", { name: selector }).click();
  await app.getByRole("menuitemradio", { name: new RegExp(`^${choice}`) }).click();
}

test("Stop settles the turn, and the next prompt is answered", async ({ app, api }) => {
  await api.addTask("Long", "/stream 10000 12 40");
  await openTask(app, "Long");
  await expect(conversation(app)).toContainText("00000002");
  await app.getByRole("button", { name: "Stop", exact: true }).click();
  await expect(app.getByRole("button", { name: "Send message" })).toBeVisible();
  await expect(app.getByRole("button", { name: "Stop", exact: true })).toBeHidden();
  await say(app, "/say Here I am.");
  await expect(conversation(app)).toContainText("Here I am.");
});

test("an agent that ignores Stop is ended, and the next prompt is answered", async ({ app, api }) => {
  await api.addTask("Deaf", "/say I do not listen.\n/hang");
  await openTask(app, "Deaf");
  await expect(conversation(app)).toContainText("I do not listen.");
  await app.getByRole("button", { name: "Stop", exact: true }).click();
  await expect(app.getByRole("button", { name: "Send message" })).toBeVisible({ timeout: 20_000 });
  await say(app, "/say I do now.");
  await expect(conversation(app)).toContainText("I do now.", { timeout: 20_000 });
});

test("messages wait while the agent is busy, and can be taken back", async ({ app, api, gates }) => {
  await api.addTask("Busy", `/say One moment.\n${gates.wait("go")}`);
  await openTask(app, "Busy");
  await expect(conversation(app)).toContainText("One moment.");
  await say(app, "/say The first.");
  await say(app, "/say The second.");
  const queue = app.getByRole("list", { name: "Queued messages" });
  await expect(queue.getByRole("listitem")).toHaveText([/The first\./, /The second\./]);
  await queue.getByRole("button", { name: "Remove from queue" }).first().click();
  await expect(queue.getByRole("listitem")).toHaveText([/The second\./]);
  await openSwitcher(app);
  await expect(row(app, "Busy")).toContainText("1 queued");
  await gates.open("go");
  await expect(row(app, "Busy")).not.toContainText("queued");
  await openTask(app, "Busy");
  await expect(conversation(app).getByRole("article", { name: "Agent" }).last()).toHaveText("The second.");
  await expect(queue).toBeHidden();
  await expect(conversation(app)).not.toContainText("The first.");
});

test("a draft outlives a reload, and belongs to its session", async ({ app, api }) => {
  await api.addTask("Notes", "/say Ready.");
  await api.addTask("Other", "/say Ready too.");
  await openTask(app, "Notes");
  await composer(app).fill("half a thought");
  await openTask(app, "Other");
  await expect(conversation(app)).toContainText("Ready too.");
  await expect(composer(app)).toHaveValue("");
  await app.reload();
  await openTask(app, "Notes");
  await expect(composer(app)).toHaveValue("half a thought");
});
