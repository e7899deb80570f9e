import { expect, type Page } from "@playwright/test";
import { expectAccessible } from "./support/axe.ts";
import { composer, conversation, say } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { openSwitcher, openTask } from "./support/switcher.ts";
import { Wire } from "./support/wire.ts";

test("a wrong code says so and offers the field", async ({ page, server }) => {
  await page.goto(server.printedAddress().replace(/#code=.*/, "#code=wrong"));
  await expect(page.getByRole("heading", { name: "Sign in to flightstrip" })).toBeVisible();
  await expect(page.getByText(/This code is wrong/)).toBeVisible();
  await page.getByLabel("Code or address").fill(server.printedAddress());
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { name: "Many agents. One look." })).toBeVisible();
});

test("C25: neither code nor secret stays in an address, and the code works once", async ({
  app,
  page,
  server,
  browser,
}) => {
  await expect(app.getByRole("heading", { name: "Many agents. One look." })).toBeVisible();
  expect(page.url()).not.toContain("code");
  const other = await browser.newPage();
  await other.goto(server.printedAddress());
  await expect(other.getByText(/This code is wrong/)).toBeVisible();
  await other.close();
  await app.reload();
  await expect(app.getByRole("heading", { name: "Many agents. One look." })).toBeVisible();
});

const kept = (app: Page) => app.evaluate(() => Object.keys(localStorage).sort());

async function openAbout(app: Page): Promise<void> {
  await openSwitcher(app);
  await app.getByRole("button", { name: "Settings", exact: true }).click();
  await app.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "About" }).click();
}

test("signing out asks about what is not sent, and leaves nothing of the person in the browser", async ({
  app,
  api,
  server,
}) => {
  await api.addTask("Notes", "/say Ready.");
  const wire = await Wire.on(app);
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("Ready.");
  wire.hold.add("message.add");
  await say(app, "/say One.");
  await composer(app).fill("half a thought");
  await openAbout(app);
  await app.getByRole("button", { name: "Sign out" }).click();
  const dialog = app.getByRole("dialog", { name: "Sign out?" });
  await expect(dialog).toContainText("1 message may not have reached the server. Sign out and lose it?");
  await expectAccessible(app, "sign-out with something unsent");
  await dialog.getByRole("button", { name: "Stay signed in" }).click();
  await expect(dialog).toBeHidden();
  expect((await kept(app)).filter((key) => key.includes("draft") || key.includes("outbox"))).toHaveLength(2);
  await app.getByRole("button", { name: "Sign out" }).click();
  const loaded = app.waitForEvent("load");
  await dialog.getByRole("button", { name: "Sign out" }).click();
  await loaded;
  await expect(app.getByRole("heading", { name: "Sign in to flightstrip" })).toBeVisible();
  expect(await kept(app)).toEqual(["flightstrip.preferences"]);
  await app.goto(await server.signInAddress());
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("Ready.");
  await expect(composer(app)).toHaveValue("");
  await expect(conversation(app)).not.toContainText("One.");
});

test("with nothing unsent one click signs out", async ({ app }) => {
  await expect(app.getByRole("heading", { name: "Many agents. One look." })).toBeVisible();
  await app.goto(app.url().replace(/\/?$/, "/settings/about"));
  await app.getByRole("button", { name: "Sign out" }).click();
  await expect(app.getByRole("heading", { name: "Sign in to flightstrip" })).toBeVisible();
});
