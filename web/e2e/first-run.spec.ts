import { expect } from "@playwright/test";
import { test } from "./support/fixtures.ts";

test("the first minute: a repository, a task, a permission, a change", async ({
  app,
  repository,
  isMobile,
}) => {
  await expect(app.getByRole("heading", { name: "Many agents. One look." })).toBeVisible();
  await expect(app).not.toHaveURL(/code=/);

  await app.getByLabel("Folder on the server").fill(repository.path);
  await app.getByRole("button", { name: "Look" }).click();
  await app.getByRole("button", { name: "Add", exact: true }).click();
  await app.getByLabel("What should be done?").fill("Add a section about tests");
  await app.getByRole("button", { name: "Start the first task" }).click();

  await app
    .getByRole("region", { name: /^Permission: / })
    .getByRole("button")
    .first()
    .click();
  await expect(app.getByText("Turn finished").first()).toBeVisible();

  if (isMobile) await app.getByRole("button", { name: /^Changes/ }).click();
  const files = app.getByRole("list", { name: "Changed files" });
  await files.getByRole("button").first().click();
  await expect(app.getByRole("table")).toBeVisible();
});
