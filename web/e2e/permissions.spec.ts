import { expect } from "@playwright/test";
import { conversation, openChanges, permission } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { openRowMenu, openSwitcher, openTask, row } from "./support/switcher.ts";
import { Wire } from "./support/wire.ts";

test("a card answers by key 1, and the change follows", async ({ app, api }) => {
  await api.addTask("Notes", "/permission Write NOTES.md as edit\n/edit NOTES.md one\n/say Written.");
  await openTask(app, "Notes");
  const card = permission(app, "Write NOTES.md");
  await expect(card.getByRole("button")).toHaveText(["Allow1", "Allow for this session2", "Reject3"]);
  await conversation(app).focus();
  await app.keyboard.press("1");
  await expect(card).toContainText("Allow");
  await expect(card.getByRole("button")).toHaveCount(0);
  await expect(conversation(app)).toContainText("Written.");
  await expect(await openChanges(app)).toContainText("NOTES.md");
});

test("a number typed into the message answers nothing", async ({ app, api }) => {
  await api.addTask("Notes", "/permission Write NOTES.md as edit\n/edit NOTES.md one");
  await openTask(app, "Notes");
  const card = permission(app, "Write NOTES.md");
  await expect(card).toBeVisible();
  await app.getByRole("textbox", { name: "Message" }).pressSequentially("1 of 3");
  await expect(card.getByRole("button", { name: "Reject" })).toBeEnabled();
});

test("a rejected change is not made, and the agent goes on", async ({ app, api }) => {
  await api.addTask("Notes", "/permission Write NOTES.md as edit\n/edit NOTES.md one\n/say As you wish.");
  await openTask(app, "Notes");
  const card = permission(app, "Write NOTES.md");
  await card.getByRole("button", { name: "Reject" }).click();
  await expect(conversation(app)).toContainText("As you wish.");
  await expect(card).toContainText("rejected");
  await expect(await openChanges(app)).toContainText("No changes against the base.");
});

test("C03: of several requests each gets its own answer, from the card or the row", async ({ app, api }) => {
  await api.addTask("Three", "/permissions 3\n/say That was all.");
  await openTask(app, "Three");
  for (const title of ["Question 1", "Question 2", "Question 3"]) {
    await expect(permission(app, title).getByRole("button", { name: "Reject" })).toBeVisible();
  }
  await permission(app, "Question 2").getByRole("button", { name: "Reject" }).click();
  await expect(permission(app, "Question 2")).toContainText("rejected");
  await permission(app, "Question 1").getByRole("button", { name: "Allow", exact: false }).first().click();
  await expect(permission(app, "Question 1")).toContainText("allowed");

  const menu = await openRowMenu(app, "Three");
  await expect(row(app, "Three")).toContainText("Permission");
  await expect(menu).toContainText("Question 3");
  await expect(menu).not.toContainText("Question 1");
  await menu.getByRole("menuitem", { name: "Allow", exact: true }).click();
  await expect(row(app, "Three")).toContainText("Turn finished");
  await openTask(app, "Three");
  await expect(conversation(app)).toContainText("1:allowed 2:rejected 3:allowed");
});

test("C04: an answer from elsewhere settles the card, and the page asks no more", async ({ app, api }) => {
  const task = await api.addTask("Notes", "/permission Write NOTES.md as edit\n/say Good.");
  await openTask(app, "Notes");
  const card = permission(app, "Write NOTES.md");
  await expect(card.getByRole("button", { name: "Reject" })).toBeVisible();
  await api.answerFirst(task.id, "reject_once");
  await expect(card).toContainText("rejected");
  await expect(card.getByRole("button")).toHaveCount(0);
  await openSwitcher(app);
  await expect(row(app, "Notes")).not.toContainText("Permission");
});

test("C04: an answer that comes too late is said in words, and the card offers nothing any more", async ({
  app,
  api,
}) => {
  const task = await api.addTask("Notes", "/permission Write NOTES.md as edit\n/say Good.");
  const wire = await Wire.on(app);
  await openTask(app, "Notes");
  const card = permission(app, "Write NOTES.md");
  wire.hold.add("permission.respond");
  await card.getByRole("button", { name: "Allow", exact: false }).first().click();
  await api.answerFirst(task.id, "reject_once");
  wire.release();
  await expect(card).toContainText("rejected");
  await expect(app.getByRole("alert").filter({ hasText: "Your answer did not count" })).toBeVisible();
  await expect(card.getByRole("button")).toHaveCount(0);
  await expect(conversation(app)).toContainText("Good.");
});

test("C03: keys answer the card that has the focus, else the newest", async ({ app, api }) => {
  await api.addTask("Three", "/permissions 3\n/say That was all.");
  await openTask(app, "Three");
  await expect(permission(app, "Question 3").getByRole("button", { name: "Reject" })).toBeVisible();
  await permission(app, "Question 1").getByRole("button", { name: "Reject" }).focus();
  await app.keyboard.press("1");
  await expect(permission(app, "Question 1")).toContainText("allowed");
  await expect(permission(app, "Question 3").getByRole("button", { name: "Reject" })).toBeVisible();
  await conversation(app).focus();
  await app.keyboard.press("3");
  await expect(permission(app, "Question 3")).toContainText("rejected");
  await expect(permission(app, "Question 2").getByRole("button", { name: "Reject" })).toBeVisible();
});

/** C07: the turn is over, helpers work on, and one of them asks. */
test("C07: a helper that asks after the end of turn is answered, and finished is said when all are done", async ({
  app,
  api,
  gates,
}) => {
  await api.addTask(
    "Helpers",
    [
      "/subagent start A",
      "/say They look.",
      "/after",
      gates.wait("ask"),
      "/permission Look outside",
      "/run true",
      gates.wait("end"),
      "/subagent end A",
    ].join("\n"),
  );
  await openTask(app, "Helpers");
  await openSwitcher(app);
  await expect(row(app, "Helpers")).toContainText("In background");
  await gates.open("ask");
  await expect(row(app, "Helpers")).toContainText("Permission");
  const menu = await openRowMenu(app, "Helpers");
  await menu.getByRole("menuitem", { name: "Allow", exact: true }).click();
  await expect(row(app, "Helpers")).toContainText("In background");
  await gates.open("end");
  await expect(row(app, "Helpers")).toContainText("Turn finished");
  await openTask(app, "Helpers");
  await expect(permission(app, "Look outside")).toContainText("allowed");
});
