import { expect } from "@playwright/test";
import { conversation } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { isPhone, row } from "./support/switcher.ts";

test.beforeEach(({ page }) => {
  test.skip(isPhone(page), "a phone has no keys");
});

test("the next that needs a person is gone to, walked past, allowed and opened without a mouse", async ({
  app,
  api,
}) => {
  await api.addTask("Calm", "/say Nothing to ask.");
  await api.addTask("Asks", "/permission Write NOTES.md as edit\n/say Thank you.");
  await expect(row(app, "Asks")).toContainText("Permission");
  await expect(row(app, "Calm")).toContainText("Turn finished");
  await app.keyboard.press("j");
  await app.keyboard.press("j");
  await app.keyboard.press("Enter");
  await expect(app.getByRole("heading", { level: 1 })).toHaveText("Calm");
  await app.keyboard.press("g");
  await app.keyboard.press("n");
  await expect(app.getByRole("heading", { level: 1 })).toHaveText("Asks");
  await app.keyboard.press("a");
  await expect(conversation(app)).toContainText("Thank you.");
});

test("the palette finds a task, and the keys are told", async ({ app, api }) => {
  await api.addTask("Explain the cart");
  await api.addTask("Round the totals");
  await expect(row(app, "Round the totals")).toBeVisible();
  await app.keyboard.press("ControlOrMeta+k");
  const palette = app.getByRole("combobox", { name: "Go to a task or do something" });
  await palette.fill("cart");
  await expect(app.getByRole("option").first()).toContainText("Explain the cart");
  await palette.press("Enter");
  await expect(app.getByRole("heading", { level: 1 })).toHaveText("Explain the cart");
  await app.keyboard.press("?");
  await expect(app.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
  await app.keyboard.press("Escape");
  await app.keyboard.press("c");
  await expect(app.getByRole("dialog", { name: "New task" })).toBeVisible();
});
