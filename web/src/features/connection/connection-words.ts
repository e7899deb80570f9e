import type { ConnectionState } from "~/store/connection";

/** The connection in one or two words and a mood for its dot. */
export function connectionWords(phase: ConnectionState["phase"]): {
  label: string;
  mood: "good" | "trying" | "bad";
} {
  switch (phase) {
    case "ready":
      return { label: "connected", mood: "good" };
    case "idle":
    case "connecting":
    case "open":
      return { label: "connecting…", mood: "trying" };
    case "waiting":
      return { label: "reconnecting…", mood: "trying" };
    case "stopped":
      return { label: "disconnected", mood: "bad" };
  }
}
