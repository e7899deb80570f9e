/**
 * Addresses are places: a task with its session and pane, or a page of settings. One function makes every address
 * and one reads it, so that back, reload and sharing work.
 */

export type SettingsSection = "repositories" | "agents" | "appearance" | "about";
export const SETTINGS_SECTIONS: readonly SettingsSection[] = [
  "repositories",
  "agents",
  "appearance",
  "about",
];

export type Pane = "chat" | "changes";

export type Place =
  | { kind: "home"; workspaceId: string | undefined }
  | {
      kind: "task";
      workspaceId: string;
      taskId: string;
      sessionId: string | undefined;
      /** What a narrow screen shows; a wide one shows both. */
      pane: Pane;
      /** The changed file that is open, as `repository:path`. */
      file: string | undefined;
    }
  | { kind: "settings"; workspaceId: string; section: SettingsSection };

export function parsePlace(address: { pathname: string; search: string }): Place {
  const [first, workspaceId, second, third] = address.pathname.split("/").filter(Boolean).map(decode);
  if (first !== "w" || workspaceId === undefined) return { kind: "home", workspaceId: undefined };
  if (second === "settings") {
    const section = SETTINGS_SECTIONS.find((name) => name === third) ?? "repositories";
    return { kind: "settings", workspaceId, section };
  }
  if (second !== "t" || third === undefined) return { kind: "home", workspaceId };
  const query = new URLSearchParams(address.search);
  return {
    kind: "task",
    workspaceId,
    taskId: third,
    sessionId: query.get("session") ?? undefined,
    pane: query.get("pane") === "changes" ? "changes" : "chat",
    file: query.get("file") ?? undefined,
  };
}

export function placeAddress(place: Place): string {
  if (place.workspaceId === undefined) return "/";
  const workspace = `/w/${encodeURIComponent(place.workspaceId)}`;
  if (place.kind === "home") return workspace;
  if (place.kind === "settings") return `${workspace}/settings/${place.section}`;
  const query = new URLSearchParams();
  if (place.sessionId !== undefined) query.set("session", place.sessionId);
  if (place.pane === "changes") query.set("pane", "changes");
  if (place.file !== undefined) query.set("file", place.file);
  const search = query.size === 0 ? "" : `?${query}`;
  return `${workspace}/t/${encodeURIComponent(place.taskId)}${search}`;
}

export function taskPlace(workspaceId: string, taskId: string, sessionId?: string): Place {
  return { kind: "task", workspaceId, taskId, sessionId, pane: "chat", file: undefined };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
