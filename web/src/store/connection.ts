/** How the connection stands, as the notice and the footer show it. */

export interface ConnectionState {
  /** `ready`: open, and everything that was open before is subscribed again. */
  phase: "idle" | "connecting" | "open" | "ready" | "waiting" | "stopped";
  /** When it was lost, in milliseconds of the page's clock; `undefined` while it stands. */
  lostAt: number | undefined;
}

export const initialConnection: ConnectionState = { phase: "idle", lostAt: undefined };
