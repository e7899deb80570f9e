import { expect } from "@playwright/test";
import { conversation, openChanges } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { openSwitcher, openTask, row } from "./support/switcher.ts";

test("a part of the page that a newer server no longer has takes only itself down", async ({ app, api }) => {
  await api.addTask("Notes", "/edit NOTES.md one\n/say Written.");
  await api.addTask("Other", "/say Still here.");
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("Written.");
  await app.route(/FileDiffView/, (route) => route.fulfill({ status: 404 }));
  const changes = await openChanges(app);
  await changes.getByRole("button", { name: /NOTES\.md/ }).click();
  await expect(app.getByRole("alert").filter({ hasText: "This part of the page failed" })).toBeVisible();
  await openSwitcher(app);
  await expect(row(app, "Notes")).toContainText("Turn finished");
  await openTask(app, "Other");
  await expect(conversation(app)).toContainText("Still here.");
});
