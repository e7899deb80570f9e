/** Times as people say them, short enough for a row. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;

/** `now`, `4 min`, `2 h`, `3 d`, `5 w`. A time ahead of our clock is now. */
export function shortAge(timestamp: string, nowMs: number): string {
  const age = nowMs - Date.parse(timestamp);
  if (Number.isNaN(age) || age < MINUTE_MS) return "now";
  if (age < HOUR_MS) return `${Math.floor(age / MINUTE_MS)} min`;
  if (age < DAY_MS) return `${Math.floor(age / HOUR_MS)} h`;
  if (age < WEEK_MS) return `${Math.floor(age / DAY_MS)} d`;
  return `${Math.floor(age / WEEK_MS)} w`;
}

/** `waiting 4 min`; a request that just came is not waiting yet. */
export function waitingAge(timestamp: string, nowMs: number): string {
  const age = shortAge(timestamp, nowMs);
  return age === "now" ? "just now" : `waiting ${age}`;
}

/** `3 s ago`, `4 min ago`, …: seconds matter for a measurement. */
export function measuredAge(timestamp: string, nowMs: number): string {
  const age = Math.max(0, nowMs - Date.parse(timestamp));
  if (age < MINUTE_MS) return `${Math.floor(age / SECOND_MS)} s ago`;
  return `${shortAge(timestamp, nowMs)} ago`;
}

/** The full local time, for a title. */
export function fullTime(timestamp: string): string {
  return new Date(timestamp).toLocaleString();
}
