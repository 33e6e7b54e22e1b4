import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { VerifiedSession } from '../../../src/accounts/sessions/sessions.service.js';
import type { Principal } from '../../../src/auth/principal/principal.js';
import type { TierConfig } from '../../../src/platform/config/config.js';

export const TIER = { name: 'free' } as TierConfig;

export const SESSION: VerifiedSession = {
  sessionId: 's1',
  expiresAt: new Date('2031-01-01T00:00:00Z'),
  readAt: 3,
  account: { id: 'ada', email: 'ada@example.com', tier: TIER, role: 'member' },
};

export const OF_SESSION = {
  accountId: 'ada',
  tier: TIER,
  credential: { kind: 'session', sessionId: 's1', expiresAt: SESSION.expiresAt, readAt: 3 },
} as const;

export const OF_KEY: Principal = {
  accountId: 'bob',
  tier: TIER,
  credential: { kind: 'api_key', keyId: 'k1', prefix: 'csk_1' },
};

export const requestWith = (headers: Record<string, string> = {}, context: object = {}, more: object = {}) =>
  ({ headers, context, ip: '2001:db8:1:2:3:4:5:6', ...more }) as unknown as Request;

export const contextOf = (request: Request, handler: () => unknown = () => undefined) =>
  ({
    switchToHttp: () => ({ getRequest: () => request, getResponse: () => ({}) }),
    getHandler: () => handler,
    getClass: () => Object,
  }) as unknown as ExecutionContext;
