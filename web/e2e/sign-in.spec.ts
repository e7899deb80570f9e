import { expect } from "@playwright/test";
import { test } from "./support/fixtures.ts";

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
