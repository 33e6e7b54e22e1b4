import type { Request } from 'express';
import { describe, expect, it } from 'vitest';
import { SessionGuard } from '../../../../src/auth/session/session.guard.js';
import { requestWith, contextOf, SESSION, OF_KEY, OF_SESSION } from '../requests.js';

describe('the guard of sessions', () => {
  const guard = new SessionGuard();

  it('accepts a session, and sets its principal where no other guard has', () => {
    const request = requestWith({}, { session: SESSION });
    expect(guard.canActivate(contextOf(request))).toBe(true);
    expect(request.context.principal).toEqual(OF_SESSION);
  });

  it('leaves the principal that another guard has set', () => {
    const request = requestWith({}, { session: SESSION, principal: OF_KEY });
    expect(guard.canActivate(contextOf(request))).toBe(true);
    expect(request.context.principal).toBe(OF_KEY);
  });

  it.each<[string, Request]>([
    ['a principal without a session', requestWith({}, { principal: OF_KEY })],
    ['a bearer token on a public route', requestWith({ authorization: 'Bearer csk_1' })],
  ])('refuses %s for good', (_, request) => {
    expect(() => guard.canActivate(contextOf(request))).toThrow(
      expect.objectContaining({
        code: 'forbidden',
        message: expect.stringMatching(/session.*not.*API key/i) as string,
      }) as Error,
    );
  });

  it('requires all other callers to sign in', () => {
    expect(() => guard.canActivate(contextOf(requestWith({})))).toThrow(
      expect.objectContaining({
        code: 'unauthenticated',
        message: 'Sign in first.',
        headers: { 'WWW-Authenticate': 'Bearer realm="chat"' },
      }) as Error,
    );
  });
});
