import { expect, type WebSocketRoute } from "@playwright/test";
import type { TaskStatusSummary } from "~/wire/generated/TaskStatusSummary";
import type { Api } from "./support/api.ts";
import { test } from "./support/fixtures.ts";
import { openSwitcher, row } from "./support/switcher.ts";

/** Further than the server gets on its own while a test runs. */
const AHEAD = 1_000;

test("SUM-07: a summary that is not newer changes nothing on the row", async ({ page, server, api }) => {
  let toPage: WebSocketRoute | undefined;
  await page.routeWebSocket(/\/ws$/, (socket) => {
    toPage = socket;
    socket.connectToServer();
  });
  const asks = await api.addTask("Asks", "/permission Write NOTES.md as edit");
  const other = await api.addTask("Other");
  await page.goto(server.printedAddress());
  await openSwitcher(page);
  await expect(row(page, "Asks")).toContainText("Permission");

  const tell = (task_id: string, status_summary: TaskStatusSummary) => {
    const payload = { task_id, workspace_id: api.workspaceId, status_summary };
    toPage?.send(JSON.stringify({ type: "notification", action: "task.status_summary.updated", payload }));
  };
  const held = await summaryOf(api, asks.id);
  const newest = held.revision + AHEAD;
  tell(asks.id, { ...held, queued_prompt_count: 2, revision: newest });
  await expect(row(page, "Asks")).toContainText("2 queued");
  const { pending_action: _, pending_since: __, ...calm } = held;
  tell(asks.id, { ...calm, queued_prompt_count: 7, revision: newest - 1 });
  tell(asks.id, { ...calm, queued_prompt_count: 8, revision: newest });
  // Frames are applied in order: when this one is drawn, those before it were read and left alone.
  const calmer = await summaryOf(api, other.id);
  tell(other.id, { ...calmer, queued_prompt_count: 3, revision: calmer.revision + AHEAD });
  await expect(row(page, "Other")).toContainText("3 queued");
  await expect(row(page, "Asks")).toContainText("2 queued");
  await expect(row(page, "Asks")).toContainText("Permission");
});

async function summaryOf(api: Api, taskId: string): Promise<TaskStatusSummary> {
  const { status_summary: summary } = await api.task(taskId);
  if (!summary) throw new Error("the task has no summary");
  return summary;
}

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
