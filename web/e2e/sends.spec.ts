import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, type Page } from "@playwright/test";
import { composer, conversation, say } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { openTask } from "./support/switcher.ts";
import { Wire } from "./support/wire.ts";

const mine = (app: Page, text: string) =>
  conversation(app).getByRole("article", { name: "You" }).filter({ hasText: text });

/** WEB-04, API-06, S-19. */
test("C14: a message whose answer was lost is said once", async ({ app, api }) => {
  await api.addTask("Notes", "/say Ready.");
  const wire = await Wire.on(app);
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("Ready.");
  wire.cutAfter.add("message.add");
  await say(app, "/append count.txt x\n/say Counted.");
  await expect(conversation(app)).toContainText("Counted.");
  await expect(mine(app, "/append")).toHaveCount(1);
  await expect(conversation(app)).not.toContainText("unknown");
  await expect(conversation(app).getByText("Counted.", { exact: true })).toHaveCount(1);
  expect(new Set(wire.messageIds()).size).toBe(1);
  const [worktree = ""] = await api.worktrees("Notes");
  expect(await readFile(join(worktree, "count.txt"), "utf8")).toBe("x");
});

/** WEB-04. */
test("C14: a message that nobody answers for is unknown, also after a reload, and tried again under its id", async ({
  app,
  api,
}) => {
  await api.addTask("Notes", "/say Ready.");
  const wire = await Wire.on(app);
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("Ready.");
  wire.cutBefore.add("message.add");
  await say(app, "/append count.txt x\n/say Counted.");
  await expect(mine(app, "/append")).toContainText("It is unknown whether the server has this.", {
    timeout: 30_000,
  });
  await app.reload();
  await openTask(app, "Notes");
  await expect(mine(app, "/append")).toContainText("It is unknown whether the server has this.");
  await expect(composer(app)).toHaveValue("");
  expect(wire.messageIds()).toEqual([]);
  wire.cutBefore.clear();
  await mine(app, "/append").getByRole("button", { name: "Try again" }).click();
  await expect(conversation(app)).toContainText("Counted.");
  await expect(mine(app, "/append")).toHaveCount(1);
  await app.reload();
  await openTask(app, "Notes");
  await expect(mine(app, "/append")).toHaveCount(1);
  await expect(conversation(app)).not.toContainText("unknown");
  expect(wire.messageIds()).toHaveLength(1);
});

test("C15: a prompt that may not have arrived says so, and is sent again when the person wants it", async ({
  app,
  api,
  server,
  gates,
}) => {
  await api.addTask("Notes", "/say Ready.");
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("Ready.");
  await say(app, `${gates.wait("go")}\n/say At last.`);
  await expect(app.getByRole("button", { name: "Stop", exact: true })).toBeVisible();
  await expect(mine(app, "At last.")).not.toContainText("Sending");
  await server.kill();
  await server.start();
  await expect(mine(app, "At last.")).toContainText("before it was certain that this arrived", {
    timeout: 20_000,
  });
  await app.reload();
  await openTask(app, "Notes");
  const again = mine(app, "At last.").getByRole("button", { name: "Send again" });
  await expect(again).toBeVisible();
  await gates.open("go");
  await again.click();
  await expect(conversation(app).getByRole("article", { name: "Agent" }).last()).toHaveText("At last.");
  await expect(mine(app, "At last.")).toHaveCount(1);
  await expect(mine(app, "At last.").getByRole("button")).toHaveCount(0);
});

test("C15: Stop is heard or the agent is ended, and what waits then goes, once and in order", async ({
  app,
  api,
}) => {
  await api.addTask("Deaf", "/say I do not listen.\n/hang");
  await openTask(app, "Deaf");
  await expect(conversation(app)).toContainText("I do not listen.");
  await say(app, "/say The first.");
  await say(app, "/say The second.");
  await app.getByRole("button", { name: "Stop", exact: true }).click();
  const answers = conversation(app).getByRole("article", { name: "Agent" });
  await expect(answers).toHaveText(["I do not listen.", "The first.", "The second."], { timeout: 30_000 });
});

test("a prompt that surely did not arrive is offered to be sent", async ({ app, api }) => {
  const agent = await api.addProfile({
    name: "Broken",
    command: "flightstrip:demo-agent",
    args: ["--exit-at-once", "3"],
    env: {},
  });
  await api.addTask("Notes", "/say Never said.", { agent });
  await openTask(app, "Notes");
  await expect(app.getByRole("main")).toContainText("Not delivered.");
  await expect(app.getByRole("main").getByRole("button", { name: "Send", exact: true })).toBeVisible();
});
