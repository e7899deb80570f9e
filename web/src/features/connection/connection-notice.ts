/** When a lost connection is worth a word: a blink is not, a few seconds are, more needs saying clearly. */

export const QUIET_AFTER_MS = 3_000;
export const CLEAR_AFTER_MS = 10_000;

export type NoticeLevel = "none" | "quiet" | "clear";

export function noticeLevel(lostAt: number | undefined, nowMs: number): NoticeLevel {
  if (lostAt === undefined) return "none";
  const lost = nowMs - lostAt;
  if (lost >= CLEAR_AFTER_MS) return "clear";
  return lost >= QUIET_AFTER_MS ? "quiet" : "none";
}
