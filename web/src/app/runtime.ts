/** The page's one store and one client, joined to the browser. */
import { Client } from "~/socket/client";
import { Commands } from "~/socket/commands";
import type { SocketLike } from "~/socket/connection";
import { frameScheduler } from "~/socket/frame-scheduler";
import { createAppStore } from "~/store/store";
import { loadPreferences } from "./preferences";

const SUBPROTOCOL = "flightstrip.v1";

/** The secret travels as the second offered subprotocol: a socket has no headers of ours, an address is logged. */
function openSocket(secret: string): SocketLike {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}/ws`, [SUBPROTOCOL, secret]);
  return socket as unknown as SocketLike;
}

export const store = createAppStore(loadPreferences());

export const client = new Client(store, {
  openSocket,
  schedule: frameScheduler(window),
  now: () => Date.now(),
  reloadPage: () => location.reload(),
});

export const commands = new Commands(client);
