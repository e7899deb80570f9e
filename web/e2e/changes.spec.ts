import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, type Page } from "@playwright/test";
import { conversation, openChanges, openChat } from "./support/chat.ts";
import { test } from "./support/fixtures.ts";
import { SentFrames } from "./support/frames.ts";
import { expectTotals, isPhone, openSwitcher, openTask, row } from "./support/switcher.ts";

test("GIT-01: row, pane and repositories count the same over two repositories", async ({
  app,
  api,
  second,
}) => {
  await api.addRepository(second.path);
  await api.addTask("Notes", "/say Ready.");
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("Ready.");
  const [first = "", other = ""] = await api.worktrees("Notes");
  await writeFile(join(first, "NEW.md"), "one\ntwo\n");
  await writeFile(join(other, "a.txt"), "1\n3\n4\n");
  await writeFile(join(other, "picture.bin"), Buffer.from([1, 0, 2]));
  const changes = await openChanges(app);
  await changes.getByRole("button", { name: "Measure now" }).click();
  await expectTotals(changes, 3, 1);
  await expect(filesOf(app, "sample")).toHaveText([/untracked.*NEW\.md/]);
  await expect(filesOf(app, "second")).toHaveText([/modified.*a\.txt/, /untracked.*picture\.bin.*binary/]);
  await openSwitcher(app);
  await expectTotals(row(app, "Notes"), 3, 1);
});

test("API-04: measuring asks for an observation, and changes no focus or membership", async ({
  app,
  api,
}) => {
  const sent = new SentFrames(app);
  await api.addTask("Notes", "/say Ready.");
  await app.reload();
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("Ready.");
  const changes = await openChanges(app);
  await expect(changes).toContainText("No changes against the base.");
  const [worktree = ""] = await api.worktrees("Notes");
  await writeFile(join(worktree, "NEW.md"), "one\n");
  const before = sent.actions().length;
  await changes.getByRole("button", { name: "Measure now" }).click();
  await expect(filesOf(app, "sample")).toHaveText([/NEW\.md/]);
  const after = sent.actions().slice(before);
  expect(after).toContain("session.git.refresh");
  expect(after.filter((action) => /\.(un)?(subscribe|focus)$/.test(action))).toEqual([]);
});

test("C16: a worktree that cannot be measured keeps its totals, and says so", async ({ app, api }) => {
  await api.addTask("Notes", "/edit NOTES.md one\\ntwo\\n\n/say Written.");
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("Written.");
  const changes = await openChanges(app);
  await expectTotals(changes, 2, 0);
  const [worktree = ""] = await api.worktrees("Notes");
  await rename(worktree, `${worktree}-away`);
  await changes.getByRole("button", { name: "Measure now" }).click();
  await expect(changes).toContainText("last attempt failed");
  await expect(changes).toContainText("The worktree is not there.");
  await expectTotals(changes, 2, 0);
  await rename(`${worktree}-away`, worktree);
  await rm(join(worktree, "NOTES.md"));
  await changes.getByRole("button", { name: "Measure now" }).click();
  await expect(changes).toContainText("No changes against the base.");
  await expect(changes).not.toContainText("last attempt failed");
});

test("the result is taken when it is committed, and refused with the reason before", async ({
  app,
  api,
  repository,
}) => {
  await api.addTask(
    "Notes",
    "/edit NOTES.md one\n/say Not committed.\n/permission Commit it\n/commit Add notes\n/say Committed.",
  );
  await openTask(app, "Notes");
  await expect(conversation(app)).toContainText("Not committed.");
  await merge(app);
  const dialog = app.getByRole("dialog", { name: "Merge into the base branch" });
  await expect(dialog.getByRole("alert")).toContainText("in no commit");
  await dialog.getByRole("button", { name: "Close" }).click();
  await openChat(app);
  await app
    .getByRole("button", { name: /^Allow/ })
    .first()
    .click();
  await expect(conversation(app)).toContainText("Committed.");
  await merge(app);
  await expect(dialog.getByRole("status")).toContainText(/main is at [0-9a-f]{10}/);
  expect(await repository.git("show", "main:NOTES.md")).toBe("one");
});

/** The changed files of one repository of the task. */
function filesOf(page: Page, repository: string) {
  const section = page.getByRole("region", { name: `Changes in ${repository}` });
  return section.getByRole("list", { name: "Changed files" }).getByRole("listitem");
}

async function merge(page: Page): Promise<void> {
  if (isPhone(page)) {
    await page.getByRole("banner").getByRole("button", { name: /Notes/ }).click();
    await page.getByRole("menuitem", { name: "Merge into base…" }).click();
  } else await page.getByRole("button", { name: "Merge into main" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Merge", exact: true }).click();
}
