import { expect, type Locator, type Page } from "@playwright/test";

const PHONE_BELOW_PX = 640;

export function isPhone(page: Page): boolean {
  return (page.viewportSize()?.width ?? 0) < PHONE_BELOW_PX;
}

export function switcher(page: Page): Locator {
  return page.getByRole("navigation", { name: "Task switcher" });
}

/** Brings the rows into view: a phone keeps them in a drawer. */
export async function openSwitcher(page: Page): Promise<void> {
  if (!isPhone(page) || (await switcher(page).isVisible())) return;
  await page.getByRole("button", { name: /^Tasks/ }).click();
  await expect(switcher(page)).toBeVisible();
}

/** The strip of a task; on a phone the drawer must be open. */
export function row(page: Page, title: string): Locator {
  const link = page.getByRole("link", { name: title, exact: true });
  return switcher(page).getByRole("listitem").filter({ has: link });
}

/** Opens the task's menu from its row and gives it. */
export async function openRowMenu(page: Page, title: string): Promise<Locator> {
  await openSwitcher(page);
  await row(page, title).hover();
  await page.getByRole("button", { name: `Actions for ${title}`, exact: true }).click();
  return page.getByRole("menu");
}

/** Goes to a task by its row. */
export async function openTask(page: Page, title: string): Promise<void> {
  await openSwitcher(page);
  await switcher(page).getByRole("link", { name: title, exact: true }).click();
  if (isPhone(page)) await expect(switcher(page)).toBeHidden();
}

/** Expects a row or a pane to say these totals. */
export async function expectTotals(place: Locator, additions: number, deletions: number): Promise<void> {
  await expect(place.getByText(`${additions} lines added,`, { exact: true }).first()).toBeAttached();
  await expect(place.getByText(`${deletions} removed`, { exact: true }).first()).toBeAttached();
}
