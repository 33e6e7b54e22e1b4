import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReportSemaphore } from '../../../src/usage/queries/usage-period.js';
import { operatorSignedIn, type AccountSession } from '../../support/account-session.js';
import { browserOf } from '../../support/as-browser.js';
import { Latch } from '../../support/latch.js';
import { startService, type RunningService } from '../../support/service.js';
import type { WebClient } from '../../support/web-client.js';

const MESSAGE = 'An account can request at most 2 reports at the same time.';

describe('a report', () => {
  let service: RunningService;
  let account: AccountSession;
  let client: WebClient;
  const held = new Latch();
  let holding: Promise<void>[];

  beforeAll(async () => {
    service = await startService();
    account = await operatorSignedIn(service);
    client = browserOf(service.origin, account);
    const semaphore = service.app.get(ReportSemaphore, { strict: false });
    holding = [1, 2].map(() => semaphore.run(account.accountId, () => held.opened));
  });
  afterAll(async () => {
    held.open();
    await Promise.all(holding);
    await service.stop();
  });

  it.each([
    '/',
    '/settings/api-keys',
    '/usage',
    '/usage/export.csv',
    '/usage/requests',
    '/usage/requests/a-request',
    '/operator/accounts',
    '/operator/accounts/:id',
    '/api/v1/usage?from=2026-01-01&to=2026-01-02',
  ])('%s is refused to an account that has two already, and to no other account', async (pattern) => {
    const path = pattern.replace(':id', account.accountId);
    const refused = await client.get(path);
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('1');
    expect(await refused.body()).toContain(MESSAGE);

    const other = await browserOf(service.origin, await operatorSignedIn(service)).get(path);
    expect(await other.body()).not.toContain(MESSAGE);
    expect(other.status).toBe(pattern.endsWith('/a-request') ? 404 : 200);
  });
});
