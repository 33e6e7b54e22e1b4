import { describe, expect, it } from 'vitest';
import type { ListedApiKey } from '../../../../../src/accounts/api-keys/api-keys.service.js';
import { stateOf } from '../../../../../src/plugins/dashboard/api-keys/key-table.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');

describe('the state of a listed key', () => {
  it.each([
    ['active', { revokedAt: null, expiresAt: null }],
    ['active', { revokedAt: null, expiresAt: new Date(NOW + 1) }],
    ['expired', { revokedAt: null, expiresAt: new Date(NOW) }],
    ['revoked', { revokedAt: new Date(NOW), expiresAt: new Date(NOW) }],
  ])('is %s with %j', (state, key) => {
    expect(stateOf(key as ListedApiKey, NOW)).toBe(state);
  });
});
