import { expect, it, vi } from 'vitest';
import { AccountChanges } from '../../../../src/accounts/credentials/account-changes.js';
import type { CredentialDatabase } from '../../../../src/platform/database/credential-database.js';

it('anything read before the first round may be wrong, also of an account that this process has changed since', async () => {
  const database = { rows: () => Promise.resolve([]) } as unknown as CredentialDatabase;
  const changes = new AccountChanges(database);
  await changes.notice(['ada']);
  const readAt = changes.position;
  changes.onApplicationBootstrap();
  await vi.waitFor(() => {
    expect(changes.isCurrent).toBe(true);
  });
  expect(changes.hasChangedSince('ada', readAt)).toBe(true);
  expect(changes.hasChangedSince('ada', changes.position)).toBe(false);
  await changes.onModuleDestroy();
});
