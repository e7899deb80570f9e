import { expect, type Locator, type Page } from "@playwright/test";
import { expectAccessible } from "./support/axe.ts";
import { conversation, say } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { SentFrames } from "./support/frames.ts";
import { openRowMenu, openSwitcher, openTask, row } from "./support/switcher.ts";
import { Wire } from "./support/wire.ts";

const THREE = JSON.stringify({
  questions: [
    {
      text: "Which database?",
      options: [{ label: "SQLite", description: "One file" }, { label: "PostgreSQL" }],
    },
    {
      text: "Which checks?",
      options: [{ label: "Lint" }, { label: "Tests" }, { label: "Types" }],
      multi_select: true,
    },
    { text: "Anything else?", free_text: true },
  ],
});

function question(page: Page, text: string): Locator {
  return page.getByRole("region", { name: `Question: ${text}` });
}

const answersKept = (app: Page): Promise<number> =>
  app.evaluate(
    () => Object.keys(localStorage).filter((key) => key.startsWith("flightstrip.answers.")).length,
  );

test("several questions are answered together, and the agent gets just these answers", async ({
  app,
  api,
}) => {
  await api.addTask("Ask", `/ask ${THREE}\n/say Thank you.`);
  await openTask(app, "Ask");
  const card = question(app, "Which database?");
  await expect(card).toContainText("3 questions");
  await card.getByRole("radio", { name: /PostgreSQL/ }).check();
  await card.getByRole("button", { name: "Send answers" }).click();
  await expect(card).toContainText("Choose an option");
  await card.getByRole("checkbox", { name: "Lint" }).check();
  await card.getByRole("checkbox", { name: "Types" }).check();
  await card.getByRole("textbox", { name: "Your answer" }).fill("Be brief.");
  await card.getByRole("button", { name: "Send answers" }).click();
  await expect(card).toContainText("Answered");
  await expect(card).toContainText("Lint; Types");
  await expect(card.getByRole("button")).toHaveCount(0);
  const log = conversation(app);
  await expect(log).toContainText("Thank you.");
  for (const answer of ["PostgreSQL", "Lint; Types", "Be brief."]) {
    await expect(log.getByRole("article", { name: "Agent" }).first()).toContainText(answer);
  }
});

test("keys choose and Enter sends, but not while a person types or walks through the rows", async ({
  app,
  api,
}) => {
  await api.addTask("Ask", "/ask Which way? | Left | Right");
  await openTask(app, "Ask");
  const card = question(app, "Which way?");
  const message = app.getByRole("textbox", { name: "Message" });
  await message.pressSequentially("1");
  await expect(card.getByRole("radio", { name: "Left" })).not.toBeChecked();
  await message.fill("");
  await conversation(app).focus();
  await app.keyboard.press("2");
  await expect(card.getByRole("radio", { name: "Right" })).toBeChecked();
  await app.keyboard.press("1");
  await expect(card.getByRole("radio", { name: "Left" })).toBeChecked();
  await app.keyboard.press("Enter");
  await expect(card).toContainText("Answered");
  await expect(conversation(app)).toContainText("Left");
});

/** C02: nothing was opened. */
test("the row says that a question waits, and one tap answers it without opening the task", async ({
  app,
  api,
}) => {
  const sent = new SentFrames(app);
  await app.reload();
  await api.addTask("Ask", "/ask Which way? | Left | Right\n/say Off I go.");
  await openSwitcher(app);
  await expect(row(app, "Ask")).toContainText("Question");
  await expect(app).toHaveTitle(/^\(1\)/);
  const menu = await openRowMenu(app, "Ask");
  await expect(menu).toContainText("Which way?");
  await menu.getByRole("menuitem", { name: "Right" }).click();
  await expect(row(app, "Ask")).toContainText("Turn finished");
  expect(sent.subscribed()).toEqual([]);
  await openTask(app, "Ask");
  await expect(question(app, "Which way?")).toContainText("Right");
  await expect(conversation(app)).toContainText("Off I go.");
});

test("several questions open at their card from the row", async ({ app, api }) => {
  await api.addTask("Other", "/say Ready.");
  await api.addTask("Ask", `/stream 40 400\n/ask ${THREE}`);
  await openSwitcher(app);
  await expect(row(app, "Ask")).toContainText("Question");
  await openTask(app, "Other");
  const menu = await openRowMenu(app, "Ask");
  await expect(menu).toContainText("3 questions");
  await menu.getByRole("menuitem", { name: "Answer in the task…" }).click();
  await expect(question(app, "Which database?").getByRole("radio", { name: /SQLite/ })).toBeInViewport();
  await expect(app).toHaveURL(/session=/);
});

/** PEN-02. */
test("C02: nobody opened them, and each row says what it waits for, also after a restart", async ({
  app,
  api,
  server,
}) => {
  await api.addTask("Asks", "/ask Which way? | Left | Right");
  await api.addTask("Wants to", "/permission Write NOTES.md as edit");
  await api.addTask("Is done", "/say Done.");
  await openSwitcher(app);
  await expect(row(app, "Asks")).toContainText("Question");
  await expect(row(app, "Wants to")).toContainText("Permission");
  await expect(row(app, "Is done")).toContainText("Turn finished");
  await expect(row(app, "Is done")).not.toContainText(/Question|Permission/);
  await expect(app).toHaveTitle(/^\(2\)/);
  await server.stop();
  await server.start();
  await app.reload();
  await openSwitcher(app);
  // The agent's process is gone, and its permission with it; a question can still be answered, by a message.
  await expect(row(app, "Asks")).toContainText("Question", { timeout: 20_000 });
  await expect(row(app, "Wants to")).not.toContainText("Permission");
});

test("declining is an answer too", async ({ app, api }) => {
  await api.addTask("Ask", "/ask Which way? | Left | Right\n/say As you like.");
  await openTask(app, "Ask");
  const card = question(app, "Which way?");
  await card.getByRole("button", { name: "Decline" }).click();
  await expect(card).toContainText("Declined");
  await expect(conversation(app)).toContainText("As you like.");
});

/** PEN-02. */
test("a question nobody waits for any more is answered by a message", async ({ app, api, gates }) => {
  await api.addTask("Ask", `/ask-until ${gates.folder}/leave Which way? | Left | Right\n/say I went on.`);
  await openTask(app, "Ask");
  const card = question(app, "Which way?");
  await expect(card.getByRole("radio", { name: "Left" })).toBeVisible();
  await gates.open("leave");
  await expect(conversation(app)).toContainText("I went on.");
  await expect(card).toContainText("your answer will be sent as a message");
  await openSwitcher(app);
  await expect(row(app, "Ask")).toContainText("Question");
  await openTask(app, "Ask");
  await card.getByRole("radio", { name: "Left" }).check();
  await card.getByRole("button", { name: "Send answer" }).click();
  await expect(card).toContainText("Answered");
  await openSwitcher(app);
  await expect(row(app, "Ask")).not.toContainText("Question");
});

/** PEN-03. */
test("that nobody waits any more is said while the agent still works", async ({ app, api, gates }) => {
  await api.addTask(
    "Ask",
    `/ask-until ${gates.folder}/leave Which way? | Left | Right\n${gates.wait("end")}`,
  );
  await openTask(app, "Ask");
  const card = question(app, "Which way?");
  await expect(card.getByRole("radio", { name: "Left" })).toBeVisible();
  await expect(card).not.toContainText("your answer will be sent as a message");
  await gates.open("leave");
  await expect(card).toContainText("your answer will be sent as a message");
  await expect(app.getByRole("button", { name: "Stop", exact: true })).toBeVisible();
  await gates.open("end");
  await expect(app.getByRole("button", { name: "Stop", exact: true })).toHaveCount(0);
  await expect(card).toContainText("your answer will be sent as a message");
});

/** PEN-04, S-16. */
test("a newer message overtakes a question: nothing stale is offered", async ({ app, api, gates }) => {
  await api.addTask("Ask", `/ask-until ${gates.folder}/leave Which way? | Left | Right\n/say I went on.`);
  await openTask(app, "Ask");
  await gates.open("leave");
  const card = question(app, "Which way?");
  await expect(card).toContainText("your answer will be sent as a message");
  await say(app, "/say Never mind.");
  await expect(card).toContainText("the conversation went on");
  await expect(card.getByRole("button")).toHaveCount(0);
  await openSwitcher(app);
  await expect(row(app, "Ask")).toContainText("Turn finished");
});

/** C04. */
test("an answer that comes too late is said, and what was answered is shown", async ({ app, api }) => {
  const task = await api.addTask("Ask", "/ask Which way? | Left | Right\n/say Off I go.");
  await openTask(app, "Ask");
  const card = question(app, "Which way?");
  await card.getByRole("radio", { name: "Left" }).check();
  // What happens elsewhere while this page hears of nothing.
  await app.evaluate(() => {
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (this: WebSocket, data) {
      if (typeof data === "string" && data.includes("clarification.respond")) {
        Object.assign(window, { heldBack: () => send.call(this, data) });
      } else send.call(this, data);
    };
  });
  await card.getByRole("button", { name: "Send answer" }).click();
  await api.answerQuestion(task.id, "Right");
  await app.evaluate(() => (window as unknown as { heldBack(): void }).heldBack());
  await expect(card).toContainText("Your answer did not count");
  await expect(card).toContainText("Right");
  await expect(card.getByRole("button")).toHaveCount(0);
});

test("a form of the agent is a question like any other", async ({ app, api }) => {
  await api.addTask("Form", "/elicit Pick a colour | red | blue");
  await openTask(app, "Form");
  const card = app.getByRole("region", { name: /^Question: .*Pick a colour$/s });
  await card.getByRole("radio", { name: "blue" }).check();
  await card.getByRole("button", { name: "Send answer" }).click();
  await expect(card).toContainText("Answered");
  await expect(conversation(app)).toContainText("blue");
});

test("a form of which nothing is required may be sent empty", async ({ app, api }) => {
  const fields = { name: { type: "string", title: "Name" }, keep: { type: "boolean", title: "Keep it?" } };
  await api.addTask("Form", `/elicit ${JSON.stringify({ type: "object", properties: fields })}`);
  await openTask(app, "Form");
  const card = app.getByRole("region", { name: /^Question: .*Name$/s });
  await expect(card.getByText("May be left open")).toHaveCount(2);
  await card.getByRole("button", { name: "Send answers" }).click();
  await expect(card).toContainText("Answered");
  await expect(card.getByText("No answer")).toHaveCount(2);
  await expect(conversation(app)).toContainText('elicited: {"action":"accept","content":{}}');
});

const LIMITED = {
  type: "object",
  required: ["count", "tag", "slow"],
  properties: {
    count: { type: "integer", title: "Count", minimum: 1, maximum: 9 },
    name: { type: "string", title: "Name", minLength: 2, maxLength: 8 },
    slow: { type: "string", title: "Slow", pattern: "^(a+)+$" },
    tag: { type: "string", title: "Tag", pattern: "^v\\d+$" },
  },
};

test("what a form limits is told, and said at its field before it is sent", async ({ app, api }) => {
  await api.addTask("Form", `/elicit ${JSON.stringify(LIMITED)}`);
  const wire = await Wire.on(app);
  await openTask(app, "Form");
  const card = app.getByRole("region", { name: /^Question: .*Count$/s });
  const field = (name: string) => card.getByRole("group", { name });
  const write = (name: string, text: string) => field(name).getByRole("textbox").fill(text);
  const sent = () => wire.reached.filter(({ action }) => action === "clarification.respond");
  const send = card.getByRole("button", { name: "Send answers" });
  await expect(field("Count")).toContainText("A whole number, from 1 to 9");
  await expect(field("Name")).toContainText("From 2 to 8 characters · May be left open");
  await expect(field("Tag")).toContainText("Pattern: ^v\\d+$");

  await write("Count", "12");
  await write("Name", "x");
  await write("Slow", "aaa");
  await write("Tag", "12");
  await send.click();
  await expect(field("Count").getByRole("alert")).toHaveText("Write a whole number, from 1 to 9.");
  await expect(field("Name").getByRole("alert")).toHaveText("From 2 to 8 characters; this has 1.");
  await expect(field("Count").getByRole("textbox")).toBeFocused();
  await expectAccessible(app, "limits of a form");
  await write("Count", "9");
  await write("Name", "");
  await send.click();
  await expect(field("Tag").getByRole("alert")).toHaveText("This does not match the pattern ^v\\d+$.");
  await expect(field("Tag").getByRole("textbox")).toBeFocused();
  expect(sent()).toEqual([]);

  // A pattern over which a browser would think for ever is the server's to judge.
  await write("Tag", "v12");
  await write("Slow", `${"a".repeat(60)}!`);
  await send.click();
  await expect(card).toContainText("a text that matches the pattern ^(a+)+$");
  expect(sent()).toHaveLength(1);
  await write("Slow", "aaa");
  await send.click();
  await expect(card).toContainText("Answered");
  await expect(conversation(app)).toContainText('"content":{"count":9,"slow":"aaa","tag":"v12"}');
});

test("answers begun are there again after a reload, and kept no longer than the question", async ({
  app,
  api,
}) => {
  await api.addTask("Ask", `/ask ${THREE}`);
  await openTask(app, "Ask");
  const card = question(app, "Which database?");
  await card.getByRole("radio", { name: /PostgreSQL/ }).check();
  await card.getByRole("checkbox", { name: "Types" }).check();
  await card.getByRole("textbox", { name: "Your answer" }).fill("Be");
  await app.reload();
  await expect(card.getByRole("radio", { name: /PostgreSQL/ })).toBeChecked();
  await expect(card.getByRole("radio", { name: /SQLite/ })).not.toBeChecked();
  await expect(card.getByRole("checkbox", { name: "Types" })).toBeChecked();
  await expect(card.getByRole("textbox", { name: "Your answer" })).toHaveValue("Be");
  expect(await answersKept(app)).toBe(1);
  await card.getByRole("button", { name: "Send answers" }).click();
  await expect(card).toContainText("Answered");
  await expect(conversation(app)).toContainText("Be");
  await expect.poll(() => answersKept(app)).toBe(0);
});

test("questions have no serious accessibility finding", async ({ app, api }) => {
  await api.addTask("Ask", `/ask ${THREE}`);
  await openTask(app, "Ask");
  const card = question(app, "Which database?");
  await card.getByRole("button", { name: "Send answers" }).click();
  await expect(card).toContainText("Write an answer.");
  await expectAccessible(app, "questions");
  await openRowMenu(app, "Ask");
  await expectAccessible(app, "menu of a question");
});
