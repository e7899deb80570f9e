import { expect, type Locator, type Page } from "@playwright/test";
import { isPhone } from "./switcher.ts";

export function conversation(page: Page): Locator {
  return page.getByRole("log", { name: "Conversation" });
}

/** The card of a request in the conversation. */
export function permission(page: Page, title: string): Locator {
  return page.getByRole("region", { name: `Permission: ${title}` });
}

export function composer(page: Page): Locator {
  return page.getByRole("textbox", { name: "Message" });
}

/** Writes a prompt and sends it, or queues it while the agent is busy. */
export async function say(page: Page, prompt: string): Promise<void> {
  await composer(page).fill(prompt);
  await page.getByRole("button", { name: /^(Send|Queue) message$/ }).click();
  await expect(composer(page)).toHaveValue("");
}

/** Brings the changes of the open task into view: a wide page shows them beside the chat. */
export async function openChanges(page: Page): Promise<Locator> {
  if (isPhone(page)) await paneTab(page, /^Changes/).click();
  return page.getByRole("region", { name: "Changes", exact: true });
}

export async function openChat(page: Page): Promise<void> {
  if (isPhone(page)) await paneTab(page, "Chat").click();
}

function paneTab(page: Page, name: string | RegExp): Locator {
  return page.getByRole("navigation", { name: "Panes of the task" }).getByRole("button", { name });
}
