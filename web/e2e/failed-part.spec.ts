import { expect } from "@playwright/test";
import { conversation, openChanges, openChat } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { openTask } from "./support/switcher.ts";

test("a part of the page that a newer server no longer has takes only itself down", async ({ app, api }) => {
  await api.addTask("Notes", "/edit NOTES.md one\n/say Written.");
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("Written.");
  await app.route(/FileDiffView/, (route) => route.fulfill({ status: 404 }));
  const changes = await openChanges(app);
  await changes.getByRole("button", { name: /NOTES\.md/ }).click();
  await expect(changes.getByRole("alert")).toContainText("This part of the page failed");
  await openChat(app);
  await expect(conversation(app)).toContainText("Written.");
});
