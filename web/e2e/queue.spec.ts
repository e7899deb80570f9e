import { expect, type Locator, type Page } from "@playwright/test";
import type { Api } from "./support/api.ts";
import { expectAccessible } from "./support/axe.ts";
import { composer, conversation, say } from "./support/chat.ts";
import { Finger } from "./support/finger.ts";
import { test } from "./support/fixtures.ts";
import type { Gates } from "./support/gates.ts";
import { isPhone, openTask } from "./support/switcher.ts";
import { Wire } from "./support/wire.ts";

/** A task whose agent is busy until the gate `go`, on screen, with these messages in line. */
async function busyWith(app: Page, api: Api, gates: Gates, ...messages: string[]): Promise<void> {
  await api.addTask("Busy", `/say One moment.\n${gates.wait("go")}`);
  await openTask(app, "Busy");
  await expect(conversation(app)).toContainText("One moment.");
  for (const message of messages) await say(app, `/say ${message}`);
  await expect(items(app)).toHaveCount(messages.length);
}

const items = (app: Page): Locator =>
  app.getByRole("list", { name: "Queued messages" }).getByRole("listitem");

const grip = (app: Page, index: number): Locator =>
  items(app)
    .nth(index)
    .getByRole("button", { name: /^Place/ });

const answers = (app: Page): Locator => conversation(app).getByRole("article", { name: "Agent" });

async function more(app: Page, message: string, action: string): Promise<void> {
  await app.getByRole("button", { name: `More for: /say ${message}` }).click();
  await app.getByRole("menuitem", { name: action }).click();
}

test("words and order are changed, and the agent hears them as they stand then", async ({
  app,
  api,
  gates,
}) => {
  await busyWith(app, api, gates, "One.", "Two.", "Three.");
  await app.getByRole("button", { name: "Edit: /say Two." }).click();
  const editor = app.getByRole("textbox", { name: "Queued message" });
  await expect(editor).toBeFocused();
  await editor.fill("/say Second.");
  await app.getByRole("button", { name: "Save" }).click();
  await expect(items(app).nth(1)).toContainText("/say Second.");
  await items(app)
    .nth(2)
    .getByRole("button", { name: /^Place 3 of 3/ })
    .focus();
  await app.keyboard.press("Alt+ArrowUp");
  await expect(items(app)).toContainText(["One.", "Three.", "Second."]);
  await app.keyboard.press("Alt+ArrowUp");
  await expect(items(app)).toContainText(["Three.", "One.", "Second."]);
  await expect(app.getByText("Moved to place 1 of 3.")).toBeAttached();
  await more(app, "Second.", "Move up");
  await expect(items(app)).toContainText(["Three.", "Second.", "One."]);
  await app.reload();
  await openTask(app, "Busy");
  await expect(items(app)).toContainText(["Three.", "Second.", "One."]);
  await gates.open("go");
  await expect(answers(app)).toHaveText(["One moment.", "Three.", "Second.", "One."]);
});

test("a grip drags a message to another place", async ({ app, api, gates }) => {
  test.skip(isPhone(app), "the pointer of a mouse");
  await busyWith(app, api, gates, "One.", "Two.", "Three.");
  await items(app)
    .nth(0)
    .getByRole("button", { name: /^Place/ })
    .dragTo(items(app).nth(2));
  await expect(items(app)).toContainText(["Two.", "Three.", "One."]);
  await gates.open("go");
  await expect(answers(app)).toHaveText(["One moment.", "Two.", "Three.", "One."]);
});

test("a finger drags a message by its grip, down and up again", async ({ app, api, gates }) => {
  test.skip(!isPhone(app), "the finger of a phone");
  await busyWith(app, api, gates, "One.", "Two.", "Three.");
  const finger = await Finger.on(app);
  await finger.drag(grip(app, 0), grip(app, 2));
  await expect(items(app)).toContainText(["Two.", "Three.", "One."]);
  await finger.drag(grip(app, 1), grip(app, 0));
  await expect(items(app)).toContainText(["Three.", "Two.", "One."]);
  await finger.drag(grip(app, 2), grip(app, 0));
  await expect(items(app)).toContainText(["One.", "Three.", "Two."]);
  await gates.open("go");
  await expect(answers(app)).toHaveText(["One moment.", "One.", "Three.", "Two."]);
});

test("a list longer than its window goes on under a finger at its edge", async ({ app, api, gates }) => {
  test.skip(!isPhone(app), "the finger of a phone");
  const ten = Array.from({ length: 10 }, (_, index) => `No ${index + 1}.`);
  await busyWith(app, api, gates, ...ten);
  const list = app.getByRole("list", { name: "Queued messages" });
  await list.evaluate((element) => {
    element.scrollTop = 0;
  });
  const finger = await Finger.on(app);
  await finger.down(grip(app, 0));
  await finger.draw(grip(app, 0), composer(app));
  await expect(items(app).last()).toContainText("No 1.");
  await expect(items(app).last()).toBeInViewport();
  await finger.lift();
  await expect(app.getByText("Moved to place 10 of 10.")).toBeAttached();
  await expect(items(app)).toContainText([...ten.slice(1), "No 1."]);
});

test("send now says that it stops the agent, and the others follow", async ({ app, api, gates }) => {
  await busyWith(app, api, gates, "One.", "Two.");
  await app.getByRole("button", { name: "More for: /say Two." }).click();
  const now = app.getByRole("menuitem", { name: /^Send now/ });
  await expect(now).toContainText("Stops what the agent is doing first");
  await now.click();
  await expect(answers(app)).toHaveText(["One moment.", "Two.", "One."]);
  await expect(items(app)).toHaveCount(0);
});

test("what was taken out can be put back into the field", async ({ app, api, gates }) => {
  await busyWith(app, api, gates, "One.");
  await composer(app).fill("half a thought");
  await items(app).getByRole("button", { name: "Remove from queue" }).click();
  await expect(items(app)).toHaveCount(0);
  await app.getByRole("button", { name: "Put text in the field" }).click();
  await expect(composer(app)).toHaveValue("half a thought\n\n/say One.");
});

test("a message that goes while its words are changed does not take them along", async ({
  app,
  api,
  gates,
}) => {
  await busyWith(app, api, gates, "One.");
  await app.getByRole("button", { name: "Edit: /say One." }).click();
  await app.getByRole("textbox", { name: "Queued message" }).fill("/say Better.");
  await gates.open("go");
  await expect(answers(app)).toHaveText(["One moment.", "One."]);
  await expect(composer(app)).toHaveValue("/say Better.");
});

test("an order that does not count any more is taken back and said", async ({ app, api, gates }) => {
  const wire = await Wire.on(app);
  await busyWith(app, api, gates, "One.", "Two.", "Three.");
  wire.hold.add("message.queue.reorder");
  await items(app)
    .nth(2)
    .getByRole("button", { name: /^Place/ })
    .focus();
  await app.keyboard.press("Alt+ArrowUp");
  await expect(items(app)).toContainText(["One.", "Three.", "Two."]);
  const sessionId = (await api.titled("Busy")).status_summary?.primary_session?.id ?? "";
  const { messages } = await api.request("message.queue.list", { session_id: sessionId });
  await api.request("message.queue.remove", { session_id: sessionId, message_id: messages[0]?.id ?? "" });
  await expect(items(app)).toHaveCount(2);
  wire.release();
  await expect(app.getByText("The order did not change", { exact: true })).toBeVisible();
  await expect(items(app)).toContainText(["Two.", "Three."]);
});

test("the queue has no serious accessibility finding", async ({ app, api, gates }) => {
  await busyWith(app, api, gates, "One.", "Two.");
  await expectAccessible(app, "queue");
  await app.getByRole("button", { name: "Edit: /say One." }).click();
  await expectAccessible(app, "editor of a queued message");
  await app.keyboard.press("Escape");
  await app.getByRole("button", { name: "More for: /say Two." }).click();
  await expectAccessible(app, "menu of a queued message");
});

test("what waits in a session that is closed is not offered to be sent, and its words can be taken along", async ({
  app,
  api,
  gates,
}) => {
  await busyWith(app, api, gates, "One.", "Two.");
  const [task] = await api.tasks();
  const sessionId = task?.status_summary?.primary_session?.id ?? "";
  await api.request("session.close", { session_id: sessionId });
  await expect(app.getByText("these are not sent any more")).toBeVisible();
  await expect(items(app)).toHaveText(["/say One.", "/say Two."]);
  for (const name of [/^Send$/, /^More for/, /^Place/, /^Edit/, /^Model/, /^Mode/]) {
    await expect(app.getByRole("button", { name })).toHaveCount(0);
  }
  await expect(app.getByRole("button", { name: "Copy: /say One." })).toBeVisible();
  const field = composer(app);
  await expect(field).toHaveAttribute("placeholder", /over/);
  // Nothing of the one line that the field has is cut.
  expect(await field.evaluate((element) => element.scrollHeight <= element.clientHeight)).toBe(true);
  await expectAccessible(app, "a closed queue");
  await app.getByRole("button", { name: "Remove from queue" }).first().click();
  await expect(items(app)).toHaveText(["/say Two."]);
  await expect(app.getByRole("button", { name: "Put text in the field" })).toHaveCount(0);
});
