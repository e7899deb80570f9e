import { expect, type WebSocketRoute } from "@playwright/test";
import type { TaskStatusSummary } from "~/wire/generated/TaskStatusSummary";
import { test } from "./support/fixtures.ts";
import { openSwitcher, row } from "./support/switcher.ts";

test("SUM-07: a summary that is not newer changes nothing on the row", async ({ page, server, api }) => {
  let toPage: WebSocketRoute | undefined;
  await page.routeWebSocket(/\/ws$/, (socket) => {
    toPage = socket;
    socket.connectToServer();
  });
  const { id } = await api.addTask("Notes", "/permission Write NOTES.md as edit\n/edit NOTES.md one");
  await page.goto(server.printedAddress());
  await openSwitcher(page);
  await expect(row(page, "Notes")).toContainText("Permission");

  const { status_summary: held } = await api.task(id);
  if (!held) throw new Error("the task has no summary");
  const { pending_action: _, pending_since: __, ...calm } = held;
  const tell = (status_summary: TaskStatusSummary) => {
    const payload = { task_id: id, workspace_id: api.workspaceId, status_summary };
    toPage?.send(JSON.stringify({ type: "notification", action: "task.status_summary.updated", payload }));
  };
  tell({ ...calm, queued_prompt_count: 7, revision: held.revision - 1 });
  tell({ ...calm, queued_prompt_count: 8, revision: held.revision });
  // What comes after them is drawn, so they were read and left alone.
  tell({ ...held, queued_prompt_count: 2, revision: held.revision + 1 });
  await expect(row(page, "Notes")).toContainText("2 queued");
  await expect(row(page, "Notes")).toContainText("Permission");
});

test("REC-04: a change that the page missed is repaired when it reconnects", async ({
  page,
  server,
  api,
}) => {
  let socket: WebSocketRoute | undefined;
  let lists = 0;
  await page.routeWebSocket(/\/ws$/, (route) => {
    socket = route;
    const upstream = route.connectToServer();
    upstream.onMessage((message) => {
      const { type, action } = JSON.parse(String(message));
      if (type === "response" && action === "task.list") lists += 1;
      if (type !== "notification" || !action.startsWith("task.")) route.send(message);
    });
  });
  const { id } = await api.addTask("Notes", "/permission Write NOTES.md as edit\n/say Good.");
  await expect.poll(async () => (await api.task(id)).status_summary?.pending_action).toBe("permission");
  await page.goto(server.printedAddress());
  await openSwitcher(page);
  await expect(row(page, "Notes")).toContainText("Permission");
  await expect.poll(() => lists).toBe(1);
  await api.answerFirst(id, "allow_once");
  await expect.poll(async () => (await api.task(id)).state).toBe("REVIEW");
  await expect(row(page, "Notes")).toContainText("Permission");
  await socket?.close({ code: 4002 });
  await expect(row(page, "Notes")).toContainText("Turn finished");
});
