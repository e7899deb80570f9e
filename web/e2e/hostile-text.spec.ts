import { expect, type Page } from "@playwright/test";
import { conversation, permission } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { openSwitcher, openTask, row } from "./support/switcher.ts";

const IMAGE = '<img src=x onerror="window.owned = true">';
const ESCAPE = "\u001b";

test("C25: what an agent writes does nothing in the conversation", async ({ app, api }) => {
  const violations = watch(app);
  const links = "[one](javascript:window.owned=1) [two](data:text/html,hi) [three](https://example.test/)";
  await api.addTask(
    "Notes",
    [
      `/say Before. ${IMAGE} <script>window.owned = true</script> ${links} ![four](https://example.test/x.png)`,
      `/think ${IMAGE}`,
      `/plan ${IMAGE}; <b>bold</b>`,
      `/tool execute ${IMAGE}`,
      `/permission ${IMAGE}`,
    ].join("\n"),
  );
  await openTask(app, "Notes");
  await expect(permission(app, IMAGE)).toBeVisible();
  await expect(conversation(app)).toContainText(`Before. ${IMAGE}`);
  await expect(conversation(app).locator("img, script, iframe")).toHaveCount(0);
  const targets = await conversation(app)
    .getByRole("link")
    .evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  expect(targets).toEqual(["https://example.test/", "https://example.test/x.png"]);
  await expectInert(app, violations);
});

test("C25: a title and an error are shown as the text they are, without terminal codes", async ({
  app,
  api,
}) => {
  const violations = watch(app);
  await api.addTask(`${IMAGE} title`, `/stderr ${ESCAPE}[31m${IMAGE} red${ESCAPE}[0m\n/exit 3`);
  await openSwitcher(app);
  const strip = row(app, `${IMAGE} title`);
  await expect(strip).toContainText("Agent exited");
  const mark = strip.getByRole("img", { name: /^Error: / });
  await expect(mark).toHaveAccessibleName(/<img src=x onerror=.* red/);
  expect(await mark.getAttribute("aria-label")).not.toMatch(/\p{Cc}|\[31m/u);
  await openTask(app, `${IMAGE} title`);
  await expect(app.getByRole("alert").filter({ hasText: "red" }).first()).toContainText(IMAGE);
  await expectInert(app, violations);
});

test("C25: text nested without end is shown, and everything around it works", async ({ app, api }) => {
  const deep = `${"> ".repeat(3_000)}deep`;
  await api.addTask("Deep", `/say ${deep}\n/permission Write the file?`);
  await openTask(app, "Deep");
  await expect(conversation(app)).toContainText(deep);
  const allow = permission(app, "Write the file?").getByRole("button", { name: /allow/i });
  await allow.first().click();
  await expect(allow).toHaveCount(0);
  await app.reload();
  await expect(conversation(app)).toContainText(deep);
});

/** Everything the page's own policy had to stop; it is the second wall, and nothing may reach it. */
function watch(page: Page): string[] {
  const violations: string[] = [];
  page.on("dialog", (dialog) => void dialog.dismiss().then(() => violations.push(dialog.message())));
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) violations.push(message.text());
  });
  return violations;
}

async function expectInert(page: Page, violations: string[]): Promise<void> {
  expect(await page.evaluate(() => "owned" in window)).toBe(false);
  expect(violations).toEqual([]);
}
