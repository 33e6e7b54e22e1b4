import { DAY_MS } from '../../common/utc-day.js';
import type { Session } from './session.entity.js';

/** A session ends after this time without use. */
export const IDLE_LIFETIME_MS = 7 * DAY_MS;
/** A session ends this long after its start, even when it is in use. */
export const ABSOLUTE_LIFETIME_MS = 30 * DAY_MS;

/** Whether the session has ended at the time `now`, in milliseconds. */
export function hasEnded({ lastSeenAt, expiresAt }: Pick<Session, 'lastSeenAt' | 'expiresAt'>, now: number): boolean {
  return expiresAt.getTime() <= now || lastSeenAt.getTime() <= idleSince(now).getTime();
}

/** Sessions that were last used at this time or earlier have ended. */
export function idleSince(now: number): Date {
  return new Date(now - IDLE_LIFETIME_MS);
}
