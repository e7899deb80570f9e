import { expect, type Page } from "@playwright/test";
import { test } from "./support/fixtures.ts";
import { SentFrames } from "./support/frames.ts";
import { expectManyStates, makeManyStates } from "./support/many-states.ts";
import { isPhone, openSwitcher, row, switcher } from "./support/switcher.ts";

const DESKTOP = { viewport: { width: 1440, height: 900 }, isMobile: false, hasTouch: false };

test("WEB-05 S-24 C02: a phone's drawer and a desktop's sidebar are the same rows in the same order", async ({
  app,
  api,
  gates,
  browser,
  server,
}) => {
  test.skip(!isPhone(app), "one test compares both");
  await makeManyStates(api, gates);
  const sent = new SentFrames(app);
  await app.reload();
  const desktop = await browser.newPage(DESKTOP);
  await desktop.goto(await server.signInAddress());
  await expectManyStates(app);
  await expectManyStates(desktop);
  await expect(async () => {
    expect(await rows(app).ariaSnapshot()).toBe(await rows(desktop).ariaSnapshot());
  }).toPass({ timeout: 10_000 });
  expect(sent.subscribed()).toEqual([]);
  await desktop.close();
});

test("S-24: a summary that arrives moves no address, scroll, focus or drawer", async ({
  app,
  api,
  gates,
}) => {
  await api.addTask("Asks", `/say A moment.\n${gates.wait("ask")}\n/permission Write NOTES.md as edit`);
  for (let number = 1; number <= 20; number += 1) await api.addTask(`Idle ${number}`);
  await openSwitcher(app);
  await expect(row(app, "Asks")).toContainText("Working");
  await row(app, "Idle 12").getByRole("link").focus();
  await rows(app)
    .locator("xpath=..")
    .evaluate((scroller) => {
      scroller.scrollTop = 300;
    });
  const before = await placeOf(app);
  expect(before).toMatchObject({ scroll: 300, focused: "Idle 12" });
  await gates.open("ask");
  await expect(app).toHaveTitle(/^\(1\)/);
  await expect(app.getByRole("heading", { name: /^Needs you/ })).toBeAttached();
  expect(await placeOf(app)).toEqual(before);
  await expect(switcher(app)).toBeVisible();
});

test("a row is found by the words on it", async ({ app, api, gates }) => {
  await makeManyStates(api, gates);
  await expectManyStates(app);
  await app.getByRole("searchbox", { name: "Find a task" }).fill("background");
  await expect(rows(app).getByRole("link")).toHaveText(["With helpers"]);
  await app.getByRole("button", { name: "Clear filter" }).click();
  await expect(row(app, "Asks")).toBeVisible();
});

function rows(page: Page) {
  return page.getByRole("list", { name: "Tasks", exact: true });
}

/** Where the person is: what a push must never change. */
async function placeOf(page: Page) {
  const scroll = await rows(page)
    .locator("xpath=..")
    .evaluate((scroller) => scroller.scrollTop);
  const focused = await page.evaluate(() => document.activeElement?.textContent);
  return { url: page.url(), scroll, focused };
}
