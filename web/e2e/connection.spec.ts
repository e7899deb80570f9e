import { expect } from "@playwright/test";
import { conversation, say } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { openTask } from "./support/switcher.ts";

test("a lost server is told quietly, then clearly, and found again by itself", async ({
  app,
  api,
  server,
}) => {
  await api.addTask("Notes", "/say Before.");
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("Before.");
  await server.kill();
  const quiet = app.getByText("Reconnecting…", { exact: true });
  const clear = app.getByRole("alert").filter({ hasText: "No connection to the server." });
  await expect(quiet).toBeVisible();
  await expect(clear).toBeHidden();
  await expect(clear).toBeVisible({ timeout: 20_000 });
  await expect(quiet).toBeHidden();
  await expect(conversation(app)).toContainText("Before.");
  await server.start();
  await expect(clear).toBeHidden({ timeout: 20_000 });
  await say(app, "/say After.");
  await expect(conversation(app)).toContainText("After.");
});
