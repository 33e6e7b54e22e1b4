const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/**
 * A sentence that says when the user can try again: the remaining time, and the time of day in the user's time zone.
 *
 * @param {number} leftMs
 * @param {Date} until
 * @param {Date} now
 */
export function waitText(leftMs, until, now) {
  const isToday = until.toDateString() === now.toDateString();
  const time = until.toLocaleTimeString([], { timeStyle: leftMs < HOUR_MS ? 'medium' : 'short' });
  const moment = isToday ? time : `${until.toLocaleDateString([], { dateStyle: 'medium' })}, ${time}`;
  return `You can try again in ${duration(leftMs)}, at ${moment}.`;
}

/** @param {number} ms */
function duration(ms) {
  if (ms < 2 * MINUTE_MS) return `${Math.ceil(ms / 1000)} s`;
  if (ms < 2 * HOUR_MS) return `${Math.ceil(ms / MINUTE_MS)} minutes`;
  return `${Math.ceil(ms / HOUR_MS)} hours`;
}
