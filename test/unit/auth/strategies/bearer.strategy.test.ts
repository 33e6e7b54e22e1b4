import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiKeyVerifier, LastUsedRecorder } from '../../../../src/accounts/api-keys/api-key-verifier.js';
import { AuthenticationGuard } from '../../../../src/auth/strategies/authentication.guard.js';
import { BearerStrategy } from '../../../../src/auth/strategies/bearer.strategy.js';
import { contextOf, requestWith, TIER } from '../requests.js';
import { AWAY, newGuard, SEND_A_KEY } from './callers.js';

describe('API keys', () => {
  let touched: string[];
  let networks: string[];
  let guard: AuthenticationGuard;

  beforeEach(() => {
    [touched, networks] = [[], []];
    const account = { id: 'ada', tier: TIER };
    const keys = {
      verify: async (key: string, networkOf: () => string) => {
        await Promise.resolve();
        networks.push(networkOf());
        if (key === 'away') throw AWAY;
        return key === 'csk_good' ? { account, keyId: 'k1', prefix: 'csk_g' } : undefined;
      },
    } as unknown as ApiKeyVerifier;
    const lastUsed = { touch: (keyId: string) => touched.push(keyId) } as unknown as LastUsedRecorder;
    guard = newGuard();
    guard.add(new BearerStrategy(keys, lastUsed));
  });

  it('authenticate their account, and are recorded as used', async () => {
    const request = requestWith({ authorization: 'Bearer csk_good' });
    await guard.canActivate(contextOf(request));
    expect(request.context.principal).toEqual({
      accountId: 'ada',
      tier: TIER,
      credential: { kind: 'api_key', keyId: 'k1', prefix: 'csk_g' },
    });
    expect([touched, networks]).toEqual([['k1'], ['2001:db8:1:2::/64']]);
  });

  it('that are unknown are refused, and not recorded as used', async () => {
    const request = requestWith({ authorization: 'Bearer csk_bad' });
    await expect(guard.canActivate(contextOf(request))).rejects.toMatchObject({
      message: 'The API key is unknown, expired or revoked.',
      headers: { 'WWW-Authenticate': 'Bearer realm="chat", error="invalid_token"' },
    });
    expect(touched).toEqual([]);
  });

  it('that cannot be checked are not called unknown', async () => {
    const request = requestWith({ authorization: 'Bearer away' });
    await expect(guard.canActivate(contextOf(request))).rejects.toBe(AWAY);
  });

  it('count only in the header', async () => {
    const request = requestWith({}, {}, { query: { access_token: 'csk_good' }, body: { access_token: 'csk_good' } });
    await expect(guard.canActivate(contextOf(request))).rejects.toMatchObject({
      message: SEND_A_KEY,
      headers: { 'WWW-Authenticate': 'Bearer realm="chat"' },
    });
    expect(networks).toEqual([]);
  });
});
