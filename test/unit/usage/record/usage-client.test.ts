import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../../src/auth/principal/principal.js';
import type { TierConfig } from '../../../../src/platform/config/config.js';
import { usageClient } from '../../../../src/usage/ledger/usage-ledger.js';

describe('the client of a record', () => {
  const tier = { name: 'free' } as TierConfig;
  it('has the key of an API key, and of no other credential', () => {
    const key = { kind: 'api_key', keyId: 'k1', prefix: 'csk_1' } as const;
    expect(usageClient({ accountId: 'ada', tier, credential: key } satisfies Principal)).toEqual({
      accountId: 'ada',
      credential: 'api_key',
      keyId: 'k1',
      keyPrefix: 'csk_1',
    });
    expect(usageClient({ accountId: 'ada', tier, credential: { kind: 'session', sessionId: 's' } })).toEqual({
      accountId: 'ada',
      credential: 'session',
      keyId: undefined,
      keyPrefix: undefined,
    });
  });
});
