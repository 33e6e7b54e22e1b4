import { Logger } from '@nestjs/common';
import { DeleteQueryBuilder, type Repository } from 'typeorm';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ExpiredSessions } from '../../../src/accounts/sessions/session-removal.js';
import { generateToken, hashSecret } from '../../../src/accounts/credentials/secrets.js';
import { Session } from '../../../src/accounts/sessions/session.entity.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { CredentialDatabase } from '../../../src/platform/database/credential-database.js';
import { testEngines } from '../../support/database.js';
import { Latch } from '../../support/latch.js';
import { PASSWORD } from '../../support/usual-password.js';
import { waitFor } from '../../support/wait-for.js';
import { accountsSuite } from './accounts-app.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** More rows than two statements delete. */
const MANY = 1_200;
const ROWS_PER_STATEMENT = 500;

describe.each(await testEngines())('rows of expired sessions on $name', (engine) => {
  let now = Date.now();
  const suite = accountsSuite(engine, { now: () => now });
  let sessions: Repository<Session>;
  let accountId: string;

  beforeAll(async () => {
    sessions = suite.get(CredentialDatabase, { strict: false }).repository(Session);
    ({ id: accountId } = await suite.get(AccountsService).create({ email: 'ada@example.com', password: PASSWORD }));
  });
  beforeEach(() => {
    now += MINUTE_MS;
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await sessions.createQueryBuilder().delete().execute();
  });

  /** Rows of sessions that were used for the last time, and that end, at these times from now, in milliseconds. */
  const add = (count: number, lastUse: number, end: number) => {
    const [lastSeenAt, expiresAt] = [new Date(now + lastUse), new Date(now + end)];
    const row = () => ({ id: hashSecret(generateToken()), accountId, createdAt: lastSeenAt });
    return sessions.insert(Array.from({ length: count }, () => ({ ...row(), lastSeenAt, expiresAt })));
  };
  const remove = () => {
    suite.get(ExpiredSessions).removeSoon();
  };
  const removed = () => waitFor(async () => (await sessions.count()) === 0, 'the rows to be deleted');
  const statements = () => vi.spyOn(DeleteQueryBuilder.prototype, 'execute');

  it('are all deleted when a session begins, 500 at a time, and those of valid sessions not', async () => {
    await add(MANY, -DAY_MS, 0);
    await add(1, -7 * DAY_MS, DAY_MS);
    await add(1, -7 * DAY_MS + 1, DAY_MS);
    await add(1, -DAY_MS, 1);
    const other = await suite.get(AccountsService).create({ email: 'bob@example.com', password: PASSWORD });
    const queries = statements();
    const { sessionId } = await suite.get(SessionsService).create(other.id);
    await waitFor(async () => (await sessions.count()) === 3, 'the rows to be deleted');
    expect(queries).toHaveBeenCalledTimes(Math.ceil(MANY / ROWS_PER_STATEMENT));
    expect(await sessions.existsBy({ id: sessionId })).toBe(true);
  });

  it('are looked for at most once a minute', async () => {
    const queries = statements();
    remove();
    await add(1, -DAY_MS, 0);
    now += MINUTE_MS - 1;
    remove();
    await new Promise(setImmediate);
    expect(queries).toHaveBeenCalledTimes(1);
    now += 1;
    remove();
    await removed();
  });

  it('are deleted by one statement at a time, also when the first takes longer than a minute', async () => {
    const latch = new Latch();
    const queries = statements().mockImplementationOnce(async () => {
      await latch.opened;
      return { affected: 0, raw: [] };
    });
    remove();
    await waitFor(() => queries.mock.calls.length === 1, 'the first statement');
    now += MINUTE_MS;
    await add(1, -DAY_MS, 0);
    remove();
    await new Promise(setImmediate);
    expect(queries).toHaveBeenCalledTimes(1);
    latch.open();
    await removed();
  });

  it('stay for the next minute when the database fails, and the log says so', async () => {
    const warned = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    statements().mockRejectedValueOnce(new Error('The disk is full.'));
    await add(1, -DAY_MS, 0);
    remove();
    await waitFor(() => warned.mock.calls.length === 1, 'the warning');
    expect(warned).toHaveBeenCalledWith({
      msg: 'Expired sessions cannot be deleted',
      reason: 'Error: The disk is full.',
    });
    expect(await sessions.count()).toBe(1);
    now += MINUTE_MS;
    remove();
    await removed();
  });
});
