import type { Session } from './session.entity.js';

const DAY_MS = 86_400_000;

/** A session that is not used for so long has ended. */
export const IDLE_LIFETIME_MS = 7 * DAY_MS;
/** A session ends after this time however much it is used. */
export const ABSOLUTE_LIFETIME_MS = 30 * DAY_MS;

/** Whether the session is over, at a moment in milliseconds. */
export function hasEnded({ lastSeenAt, expiresAt }: Pick<Session, 'lastSeenAt' | 'expiresAt'>, now: number): boolean {
  return expiresAt.getTime() <= now || lastSeenAt.getTime() <= idleSince(now).getTime();
}

/** Sessions not used after this moment have ended. */
export function idleSince(now: number): Date {
  return new Date(now - IDLE_LIFETIME_MS);
}
