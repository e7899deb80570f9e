import { expect, type Page } from "@playwright/test";
import { openSwitcher } from "./switcher.ts";

export interface NewTask {
  title: string;
  /** The first prompt; the demo agent reads directives in it. */
  prompt: string;
  /** Which of several agents; the first when absent. */
  agent?: string;
}

/** Makes a task as a person does; the page then shows it. */
export async function newTask(page: Page, { title, prompt, agent }: NewTask): Promise<void> {
  await openSwitcher(page);
  await page.getByRole("button", { name: "New task" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New task" });
  await dialog.getByLabel("What should be done?").fill(prompt);
  await dialog.getByLabel("Title").fill(title);
  if (agent !== undefined) await dialog.getByLabel("Agent", { exact: true }).selectOption({ label: agent });
  await dialog.getByRole("button", { name: "Create and start" }).click();
  await expect(dialog).toBeHidden();
}
