import { expect, it } from 'vitest';
import type { ApiKeyVerifier, LastUsedRecorder } from '../../../../src/accounts/api-keys/api-key-verifier.js';
import { BearerStrategy } from '../../../../src/auth/strategies/bearer.strategy.js';
import { contextOf, requestWith, TIER } from '../requests.js';
import { newGuard } from './callers.js';

it('an API key authenticates its account from the network of the client, and is recorded as used', async () => {
  const touched: string[] = [];
  const networks: string[] = [];
  const keys = {
    verify: (_: string, networkOf: () => string) => {
      networks.push(networkOf());
      return Promise.resolve({ account: { id: 'ada', tier: TIER }, keyId: 'k1', prefix: 'csk_g' });
    },
  } as unknown as ApiKeyVerifier;
  const lastUsed = { touch: (keyId: string) => touched.push(keyId) } as unknown as LastUsedRecorder;
  const guard = newGuard();
  guard.add(new BearerStrategy(keys, lastUsed));
  const request = requestWith({ authorization: 'Bearer csk_good' });
  await guard.canActivate(contextOf(request));
  expect(request.context.principal).toEqual({
    accountId: 'ada',
    tier: TIER,
    credential: { kind: 'api_key', keyId: 'k1', prefix: 'csk_g' },
  });
  expect([touched, networks]).toEqual([['k1'], ['2001:db8:1:2::/64']]);
});
