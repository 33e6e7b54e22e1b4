import type { Repository } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { generateToken, hashSecret } from '../../../src/accounts/credentials/secrets.js';
import { Session } from '../../../src/accounts/sessions/session.entity.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { HourlyJobs } from '../../../src/platform/common/timers/periodic-task.js';
import { CredentialDatabase } from '../../../src/platform/database/credential-database.js';
import { testEngines } from '../../support/database.js';
import { PASSWORD } from '../../support/usual-password.js';
import { accountsSuite } from './accounts-app.js';

const DAY_MS = 86_400_000;
const add = vi.spyOn(HourlyJobs.prototype, 'add');
afterAll(() => {
  vi.restoreAllMocks();
});

describe.each(await testEngines())('rows of expired sessions on $name', (engine) => {
  const now = Date.now();
  const suite = accountsSuite(engine, { now: () => now });
  let sessions: Repository<Session>;
  let accountId: string;

  beforeAll(async () => {
    sessions = suite.get(CredentialDatabase, { strict: false }).repository(Session);
    ({ id: accountId } = await suite.get(AccountsService).create({ email: 'ada@example.com', password: PASSWORD }));
  });

  /** Rows of sessions that were used for the last time, and that end, at these times from now, in milliseconds. */
  const insert = (count: number, lastUse: number, end: number) => {
    const [lastSeenAt, expiresAt] = [new Date(now + lastUse), new Date(now + end)];
    const row = () => ({ id: hashSecret(generateToken()), accountId, createdAt: lastSeenAt });
    return sessions.insert(Array.from({ length: count }, () => ({ ...row(), lastSeenAt, expiresAt })));
  };

  it('are all deleted once an hour, 500 at a time, and those of valid sessions not', async () => {
    await insert(600, -DAY_MS, 0);
    await insert(1, -7 * DAY_MS, DAY_MS);
    await insert(1, -7 * DAY_MS + 1, DAY_MS);
    await insert(1, -DAY_MS, 1);
    const other = await suite.get(AccountsService).create({ email: 'bob@example.com', password: PASSWORD });
    const { sessionId } = await suite.get(SessionsService).create(other.id);
    const job = add.mock.calls.findLast(([name]) => name === 'Deletes expired sessions')?.[1];
    const { signal } = new AbortController();
    expect([await job?.(signal), await sessions.count()]).toEqual([true, 104]);
    expect([await job?.(signal), await sessions.count()]).toEqual([false, 3]);
    expect(await sessions.existsBy({ id: sessionId })).toBe(true);
  });
});
