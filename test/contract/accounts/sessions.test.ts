import type { INestApplicationContext } from '@nestjs/common';
import { getRepositoryToken } from '@nestjs/typeorm';
import { SelectQueryBuilder, type Repository } from 'typeorm';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Account } from '../../../src/accounts/account/account.entity.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { AccountChanges } from '../../../src/accounts/credentials/account-changes.js';
import { CredentialWatch } from '../../../src/accounts/ended/credential-watch.js';
import { AtomicStatements } from '../../../src/platform/database/queries/atomic-statements.js';
import { Session } from '../../../src/accounts/sessions/session.entity.js';
import { generateToken } from '../../../src/accounts/credentials/secrets.js';
import { SessionsService, type NewSession } from '../../../src/accounts/sessions/sessions.service.js';
import { CredentialDatabase } from '../../../src/platform/database/credential-database.js';
import { testEngines } from '../../support/database.js';
import { ENDED_WITHIN_MS, KNOWN_WITHIN_MS } from '../../support/known-within.js';
import { lastBefore, waitFor } from '../../support/wait-for.js';
import { accountsSuite } from './accounts-app.js';
import { PASSWORD } from '../../support/usual-password.js';

/** How many unknown tokens a network may send at once. */
const UNKNOWN_AT_ONCE = 200;

describe.each(await testEngines())('sessions on $name', (engine) => {
  const suite = accountsSuite(engine, { processes: 2 });
  let accountId: string;
  let accounts = 0;

  beforeAll(async () => {
    accountId = await newAccount();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const of = (app: INestApplicationContext) => app.get(SessionsService);
  const repository = (app: INestApplicationContext) =>
    app.get(CredentialDatabase, { strict: false }).repository(Session);
  const newAccount = async () =>
    (await suite.get(AccountsService).create({ email: `ada-${++accounts}@example.com`, password: PASSWORD })).id;
  /** The other tests keep the event loop and the database busy, and nothing is remembered while changes are not read in time. */
  const readChangesInTime = async (app: INestApplicationContext) => {
    await waitFor(() => app.get(AccountChanges).isCurrent, 'the changes to be read');
    vi.spyOn(app.get(AccountChanges), 'isCurrent', 'get').mockReturnValue(true);
  };
  const lastAccepted = (app: INestApplicationContext, token: string) =>
    lastBefore(async () => (await of(app).verify(token)) === undefined, 'the session to be refused');

  it('are known to every process at once, with the account and its tier', async () => {
    const { token, sessionId } = await of(suite.app).create(accountId);
    const verified = await of(suite.other).verify(token);
    expect(verified).toMatchObject({ sessionId, account: { id: accountId, tier: { name: 'free' } } });
    expect(sessionId).toMatch(/^[0-9a-f]{64}$/);
    expect(sessionId).not.toContain(token);
  });

  it('are refused at once where they are ended, and within a second in another process that has just used them', async () => {
    const { token, sessionId } = await of(suite.app).create(accountId);
    expect(await of(suite.app).verify(token)).toBeDefined();
    expect(await of(suite.other).verify(token)).toBeDefined();

    await of(suite.app).end(sessionId);
    const endedAt = performance.now();

    expect(await of(suite.app).verify(token)).toBeUndefined();
    expect((await lastAccepted(suite.other, token)) - endedAt).toBeLessThan(KNOWN_WITHIN_MS);
    await of(suite.app).end(sessionId);
  });

  it('end what is open under them, at once here and soon in another process, and nothing else', async () => {
    const ended = await of(suite.app).create(accountId);
    const other = await of(suite.app).create(accountId);
    const [onHere, onThere, onOther] = [vi.fn(), vi.fn(), vi.fn()];
    suite.get(CredentialWatch).watch({ kind: 'session', id: ended.sessionId, accountId }, onHere);
    suite.other.get(CredentialWatch).watch({ kind: 'session', id: ended.sessionId, accountId }, onThere);
    const unwatch = suite.other
      .get(CredentialWatch)
      .watch({ kind: 'session', id: other.sessionId, accountId }, onOther);

    await of(suite.app).end(ended.sessionId);

    expect(onHere).toHaveBeenCalledTimes(1);
    await waitFor(() => onThere.mock.calls.length === 1, 'the other process to notice', ENDED_WITHIN_MS);
    expect(onOther).not.toHaveBeenCalled();
    unwatch();
  });

  it('all end with a change of password, by the account or by the operator, those of other accounts not', async () => {
    const mine = await newAccount();
    const email = `ada-${accounts}@example.com`;
    const other = await of(suite.app).create(accountId);
    const changes = [
      () => suite.get(AccountsService).changePassword(mine, PASSWORD, 'another horse battery'),
      () => suite.get(AccountsService).setPassword(email, 'a third horse battery'),
    ];
    for (const change of changes) {
      const sessions = await Promise.all([of(suite.app).create(mine), of(suite.other).create(mine)]);
      for (const { token } of sessions) {
        expect(await of(suite.app).verify(token)).toBeDefined();
        expect(await of(suite.other).verify(token)).toBeDefined();
      }
      await change();
      const changedAt = performance.now();
      for (const { token } of sessions) {
        expect(await of(suite.app).verify(token)).toBeUndefined();
        expect((await lastAccepted(suite.other, token)) - changedAt).toBeLessThan(KNOWN_WITHIN_MS);
      }
    }
    expect(await of(suite.other).verify(other.token)).toBeDefined();
  });

  it('are a hundred of one account at most: a new one ends the one that was used least recently, and what is open under it', async () => {
    const mine = await newAccount();
    const other = await of(suite.app).create(await newAccount());
    const made = [];
    for (let n = 0; n < 100; n++) made.push(await of(n % 2 ? suite.app : suite.other).create(mine));
    const [first, second, third] = made as [NewSession, NewSession, NewSession];
    const unused = { lastSeenAt: new Date(Date.now() - 60_000) };
    for (const { sessionId } of [first, third]) await repository(suite.app).update({ id: sessionId }, unused);
    const onEnded = vi.fn();
    suite.get(CredentialWatch).watch({ kind: 'session', id: first.sessionId, accountId: mine }, onEnded);

    const newest = await Promise.all([of(suite.app).create(mine), of(suite.other).create(mine)]);

    expect(await repository(suite.app).countBy({ accountId: mine })).toBe(100);
    for (const { token } of [...newest, second, other]) expect(await of(suite.app).verify(token)).toBeDefined();
    for (const { token } of [first, third]) {
      await lastAccepted(suite.app, token);
      await lastAccepted(suite.other, token);
    }
    await waitFor(() => onEnded.mock.calls.length === 1, 'what is open to end', ENDED_WITHIN_MS);
  });

  it('above the hundred have ended, with what is open under them, before the newest is given out', async () => {
    const mine = await newAccount();
    const first = await of(suite.app).create(mine);
    expect(await of(suite.app).verify(first.token)).toBeDefined();
    const before = { lastSeenAt: new Date(Date.now() - 60_000) };
    await repository(suite.app).update({ id: first.sessionId }, before);
    for (let n = 1; n < 100; n++) await of(suite.app).create(mine);
    const onEnded = vi.fn();
    suite.get(CredentialWatch).watch({ kind: 'session', id: first.sessionId, accountId: mine }, onEnded);
    expect(await of(suite.app).verify(first.token)).toBeDefined();

    await of(suite.app).create(mine);

    expect(onEnded).toHaveBeenCalledTimes(1);
    expect(await repository(suite.app).existsBy({ id: first.sessionId })).toBe(false);
    expect(await of(suite.app).verify(first.token)).toBeUndefined();
  });

  it('that are new are accepted from a network that has used up its unknown tokens', async () => {
    // Time gives a part of the budget back.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const fromHere = (token: string) => of(suite.app).verify(token, () => 'a guessing network');
    const guess = () => fromHere(generateToken());
    const earlier = await of(suite.other).create(accountId);
    for (let n = 0; n < UNKNOWN_AT_ONCE; n++) expect(await guess()).toBeUndefined();
    await expect(guess()).rejects.toMatchObject({ code: 'rate_limit_exceeded' });

    const { token } = await of(suite.app).create(accountId);

    expect(await fromHere(token)).toBeDefined();
    await expect(fromHere(earlier.token)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    clock.mockRestore();
  });

  it('stay when the database fails to end them, and end with the next attempt', async () => {
    const { token, sessionId } = await of(suite.app).create(accountId);
    const rows = suite.get<Repository<Session>>(getRepositoryToken(Session));
    vi.spyOn(suite.get(AtomicStatements), 'run').mockRejectedValueOnce(new Error('The database fails.'));
    await expect(of(suite.app).end(sessionId)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await of(suite.app).verify(token)).toBeDefined();

    await of(suite.app).end(sessionId);

    expect(await of(suite.app).verify(token)).toBeUndefined();
    expect(await rows.existsBy({ id: sessionId })).toBe(false);
  });

  it('are refused everywhere while their account is disabled, also when they began afterwards', async () => {
    const mine = await newAccount();
    await suite.get<Repository<Account>>(getRepositoryToken(Account)).update({ id: mine }, { disabledAt: new Date() });
    const { token } = await of(suite.app).create(mine);
    expect([await of(suite.app).verify(token), await of(suite.other).verify(token)]).toEqual([undefined, undefined]);
  });

  it('need an account, and go with it', async () => {
    await expect(of(suite.app).create('nobody')).rejects.toMatchObject({ code: 'not_found' });
    const mine = await newAccount();
    const { token } = await of(suite.app).create(mine);
    await suite.get<Repository<Account>>(getRepositoryToken(Account)).delete({ id: mine });
    expect(await of(suite.other).verify(token)).toBeUndefined();
  });

  it('are looked up once for many concurrent requests, and not at all for what cannot be a token', async () => {
    await readChangesInTime(suite.other);
    const { token } = await of(suite.app).create(await newAccount());
    const queries = vi.spyOn(repository(suite.other), 'createQueryBuilder');
    await Promise.all(Array.from({ length: 50 }, () => of(suite.other).verify(token)));
    await of(suite.other).verify(token);
    expect(queries).toHaveBeenCalledTimes(1);
    for (const nonsense of ['', 'x', `${token}x`, token.slice(1), `${token.slice(1)} `, 'é'.repeat(43)]) {
      expect(await of(suite.other).verify(nonsense)).toBeUndefined();
    }
    expect(queries).toHaveBeenCalledTimes(1);
  });

  it('are neither good nor bad while the database fails, but for what it said before', async () => {
    await readChangesInTime(suite.other);
    const mine = await newAccount();
    const [known, unknown] = [await of(suite.app).create(mine), await of(suite.app).create(mine)];
    const now = vi.spyOn(Date, 'now');
    expect(await of(suite.other).verify(known.token)).toBeDefined();
    vi.spyOn(SelectQueryBuilder.prototype, 'getMany').mockRejectedValue(new Error('The database fails.'));
    expect(await of(suite.other).verify(known.token)).toBeDefined();
    now.mockReturnValue(performance.timeOrigin + performance.now() + 60_000);
    for (const { token } of [known, unknown]) {
      await expect(of(suite.other).verify(token)).rejects.toMatchObject({ code: 'unavailable' });
    }
  });
});
