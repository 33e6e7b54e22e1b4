import { describe, expect, it } from 'vitest';
import { hasEnded } from '../../../../src/accounts/sessions/session.entity.js';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-03-01T12:00:00Z');

describe('a session', () => {
  const isOver = (now: number, { usedAt, expiresAt }: { usedAt: number; expiresAt: number }) =>
    hasEnded({ lastSeenAt: new Date(usedAt), expiresAt: new Date(expiresAt) }, now);

  it('ends seven days after its last use, to the millisecond', () => {
    const session = { usedAt: START, expiresAt: START + 30 * DAY_MS };
    expect([isOver(START + 7 * DAY_MS - 1, session), isOver(START + 7 * DAY_MS, session)]).toEqual([false, true]);
  });

  it('ends at its expiry although it is in use, to the millisecond', () => {
    const session = { usedAt: START + 30 * DAY_MS, expiresAt: START + 30 * DAY_MS };
    expect([isOver(START + 30 * DAY_MS - 1, session), isOver(START + 30 * DAY_MS, session)]).toEqual([false, true]);
  });
});
