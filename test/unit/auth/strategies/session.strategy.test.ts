import { describe, expect, it } from 'vitest';
import { SessionStrategy } from '../../../../src/auth/strategies/session.strategy.js';
import { contextOf, requestWith, SESSION, TIER } from '../requests.js';
import { AWAY, newGuard } from './callers.js';

describe('sessions', () => {
  const guard = newGuard();
  guard.add(new SessionStrategy());

  it('authenticate their account', async () => {
    const request = requestWith({}, { session: SESSION });
    await guard.canActivate(contextOf(request));
    expect(request.context.principal).toEqual({
      accountId: 'ada',
      tier: TIER,
      credential: { kind: 'session', sessionId: 's1', expiresAt: SESSION.expiresAt, readAt: SESSION.readAt },
    });
  });

  it('that are missing are refused with the challenge for a missing credential', async () => {
    await expect(guard.canActivate(contextOf(requestWith()))).rejects.toMatchObject({
      headers: { 'WWW-Authenticate': 'Bearer realm="chat"' },
    });
  });

  it('that could not be looked up fail with that error', async () => {
    const request = requestWith({}, { sessionFailure: AWAY });
    await expect(guard.canActivate(contextOf(request))).rejects.toBe(AWAY);
  });
});
