import { readFile } from "node:fs/promises";
import { expect, type Locator, type Page } from "@playwright/test";
import { expectAccessible } from "./support/axe.ts";
import { composer, conversation, say } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { openTask } from "./support/switcher.ts";

const NOTES = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("remember\n") };
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

const chips = (app: Page): Locator => app.getByRole("list", { name: "Attached files" }).getByRole("listitem");
const input = (app: Page): Locator => app.locator("input[type=file]");

/** Hands a picture to the page as the clipboard or a dragging hand would. */
async function hand(app: Page, target: Locator, events: string[], name: string): Promise<void> {
  const transfer = await app.evaluateHandle(
    ([pixel, fileName]) => {
      const bytes = Uint8Array.from(atob(pixel ?? ""), (letter) => letter.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], fileName ?? "", { type: "image/png" }));
      return data;
    },
    [PIXEL, name],
  );
  for (const event of events) {
    if (event === "paste") {
      await target.evaluate(
        (element, clipboardData) =>
          element.dispatchEvent(
            new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }),
          ),
        transfer,
      );
    } else await target.dispatchEvent(event, { dataTransfer: transfer });
  }
}

test.beforeEach(async ({ app, api }) => {
  await api.addTask("Files", "/say Ready.");
  await openTask(app, "Files");
  await expect(conversation(app)).toContainText("Ready.");
});

test("a chosen file goes with its message and comes back as it was", async ({ app }) => {
  await input(app).setInputFiles([NOTES]);
  await expect(chips(app)).toContainText(["notes.txt"]);
  await expect(chips(app)).toContainText("9 B");
  await say(app, "/say Thank you.");
  await expect(chips(app)).toHaveCount(0);
  await expect(conversation(app)).toContainText("Thank you.");
  const file = conversation(app)
    .getByRole("list", { name: "Files" })
    .getByRole("link", { name: /notes\.txt/ });
  const [download] = await Promise.all([app.waitForEvent("download"), file.click()]);
  expect(download.suggestedFilename()).toBe("notes.txt");
  expect(await readFile(await download.path(), "utf8")).toBe("remember\n");
  await app.reload();
  await openTask(app, "Files");
  await expect(file).toBeVisible();
});

test("pasted and dropped pictures are attached with a small picture of themselves", async ({ app }) => {
  await hand(app, composer(app), ["paste"], "pasted.png");
  await expect(chips(app)).toContainText(["pasted.png"]);
  await hand(app, conversation(app), ["dragenter", "dragover"], "dropped.png");
  await expect(app.getByText("Drop files to attach them")).toBeVisible();
  await hand(app, conversation(app), ["drop"], "dropped.png");
  await expect(app.getByText("Drop files to attach them")).toBeHidden();
  await expect(chips(app)).toContainText(["pasted.png", "dropped.png"]);
  await expect(chips(app).locator("img")).toHaveCount(2);
  await chips(app).first().getByRole("button", { name: "Remove pasted.png" }).click();
  await expect(chips(app)).toContainText(["dropped.png"]);
  // Without words: the file is the message.
  await app.getByRole("button", { name: "Send message" }).click();
  await expect(conversation(app).getByRole("link", { name: /dropped\.png/ })).toBeVisible();
});

test("a file that is too large is said at once and hinders nothing", async ({ app }) => {
  const buffer = Buffer.alloc(10 * 1024 * 1024 + 1);
  await input(app).setInputFiles([{ name: "dump.bin", mimeType: "application/octet-stream", buffer }, NOTES]);
  await expect(chips(app).first()).toContainText("Larger than 10 MiB.");
  await expectAccessible(app, "attached files");
  await say(app, "/say Thank you.");
  await expect(conversation(app).getByRole("link")).toHaveCount(1);
});

test("a file that did not get through says so, and is tried again", async ({ app }) => {
  await app.route("**/api/v1/attachments?*", (route) => route.abort());
  await input(app).setInputFiles([NOTES]);
  await expect(chips(app)).toContainText("There is no connection to the server.");
  await app.unroute("**/api/v1/attachments?*");
  await chips(app).getByRole("button", { name: "Upload notes.txt again" }).click();
  await expect(chips(app)).toContainText("9 B");
  await expect(chips(app)).not.toContainText("connection");
});

test("a message waits for its files, and what was written after it waits too", async ({ app }) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await app.route("**/api/v1/attachments?*", async (route) => {
    await held;
    await route.continue();
  });
  await input(app).setInputFiles([NOTES]);
  await say(app, "/say First.");
  await say(app, "/say Second.");
  await expect(conversation(app)).toContainText("Uploading 1 file…");
  await expect(conversation(app)).not.toContainText("unknown");
  release();
  const answers = conversation(app).getByRole("article", { name: "Agent" });
  await expect(answers).toHaveText(["Ready.", "First.", "Second."]);
  await expect(conversation(app).getByRole("article", { name: "You" }).nth(1)).toContainText("notes.txt");
});

test("files of an unsent message outlive a reload, and belong to their session", async ({ app, api }) => {
  await api.addTask("Other", "/say Ready too.");
  await input(app).setInputFiles([NOTES]);
  await expect(chips(app)).toContainText("9 B");
  await openTask(app, "Other");
  await expect(conversation(app)).toContainText("Ready too.");
  await expect(chips(app)).toHaveCount(0);
  await app.reload();
  await openTask(app, "Files");
  await expect(chips(app)).toContainText(["notes.txt"]);
  await say(app, "/say Thank you.");
  await expect(conversation(app).getByRole("link", { name: /notes\.txt/ })).toBeVisible();
});
