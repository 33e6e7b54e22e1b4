import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatabaseConfig } from '../../src/platform/config/config.js';
import { testEngines, type TestDatabase } from '../support/database.js';
import { valueOf } from '../support/metrics.js';
import { KNOWN_WITHIN_MS } from '../support/known-within.js';
import { retryWhileOverloaded } from '../support/retry-while-overloaded.js';
import { get, openStream, stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { MAX_HEALTH_MS, Target } from './support/target.js';

const CONNECTIONS = 100;
/** Requests with the revoked key, after the second in which every replica has to hear of its end. */
const ROUNDS = 20;
/** At once, and then a second: see TokenBuckets. Keys and cookies have one each. */
const UNKNOWN_AT_ONCE = 200;
const UNKNOWN_A_SECOND = 20;
/** The SQLSTATE of PostgreSQL. */
const DEADLOCK = '40P01';
const NOT_HANGING_MS = 10_000;
const DAY_MS = 86_400_000;
const READY = '/api/v1/health/ready';

const engines = await testEngines();
const urlOf = (config: DatabaseConfig) => (config.type === 'sqlite' ? `sqlite:${config.path}` : config.url);

/** The service on a database of its own, with a provider that answers at once and tiers without limits. */
async function startOn(database: TestDatabase): Promise<Target> {
  const target = await Target.start({ env: { DATABASE_URL: urlOf(database.config) } });
  target.provider.answers((call) => {
    call.answer('Hello');
  });
  return target;
}

async function statusOf({ origin }: Target, key: string): Promise<number> {
  const answer = await stream(origin, { key });
  await answer.over;
  return answer.status;
}

/** The status for a client that repeats its request while the database is slow: the machine runs other tests, too. */
async function repeatedStatusOf({ origin }: Target, key: string): Promise<number> {
  const { status } = await retryWhileOverloaded(() => stream(origin, { key }), /database is (?:too slow|unavailable)/);
  return status;
}

describe.each(engines)('a flood of unknown credentials, on $name', (engine) => {
  let database: TestDatabase;
  let target: Target;

  beforeAll(async () => {
    database = await engine.create();
    target = await startOn(database);
  });
  afterAll(async () => {
    await target.stop();
    await database.drop();
  });

  it('refuses no known key, lets no revoked key through, and costs the database little', async () => {
    const honest = await target.installation.createKey();
    const revoked = await target.installation.admin('key', 'create', '--email', 'someone@example.com', '--name', 'b');
    for (const key of [honest.key, revoked['key'] ?? '']) expect(await statusOf(target, key)).toBe(200);
    const honestStatuses: number[] = [];
    const revokedStatuses: number[] = [];
    const beganAt = performance.now();

    const flood = new Worker(new URL('./support/unknown-keys.mjs', import.meta.url), {
      workerData: { origin: target.origin, connections: CONNECTIONS },
    });
    const health = await target.healthDuring(async () => {
      await target.installation.admin('key', 'revoke', '--id', revoked['id'] ?? '');
      const revokedAt = performance.now();
      while (revokedStatuses.length < ROUNDS) {
        const sentAt = performance.now();
        const [good, bad] = await Promise.all([
          repeatedStatusOf(target, honest.key),
          repeatedStatusOf(target, revoked['key'] ?? ''),
        ]);
        honestStatuses.push(good);
        if (sentAt > revokedAt + KNOWN_WITHIN_MS) revokedStatuses.push(bad);
      }
    });
    const told = once(flood, 'message');
    flood.postMessage('stop');
    const [statuses] = (await told) as [Record<string, number>];
    const seconds = (performance.now() - beganAt) / 1000;

    expect(new Set(honestStatuses)).toEqual(new Set([200]));
    expect(new Set(revokedStatuses)).toEqual(new Set([401]));
    expect(health).toMatchObject({ failed: 0 });
    expect(health.longestMs).toBeLessThan(MAX_HEALTH_MS);
    expect(Object.keys(statuses).sort()).toEqual(['401', '429']);
    expect(statuses['401']).toBeLessThan(2 * (UNKNOWN_AT_ONCE + UNKNOWN_A_SECOND * (seconds + 1)));
    const shed = valueOf(await target.metrics(), 'chat_shed_total', { reason: 'unknown_credentials' });
    expect(shed).toBe(statuses['429']);
    // All is as before at once, also for a key that nobody has seen.
    const fresh = await target.installation.admin('key', 'create', '--email', 'someone@example.com', '--name', 'c');
    await waitFor(
      async () => (await statusOf(target, fresh['key'] ?? '')) === 200,
      'a new key to work',
      NOT_HANGING_MS,
    );
  }, 120_000);
});

const postgres = engines.find(({ name }) => name === 'PostgreSQL');

describe.skipIf(postgres === undefined)('tables that are locked for a while, on PostgreSQL', () => {
  let database: TestDatabase;
  let target: Target;
  let locker: pg.Client;

  beforeAll(async () => {
    database = await (postgres as NonNullable<typeof postgres>).create();
    target = await startOn(database);
    locker = new pg.Client({ connectionString: urlOf(database.config) });
    await locker.connect();
  });
  afterAll(async () => {
    await locker.end();
    await target.stop();
    await database.drop();
  });

  /** Every query of them waits while `work` goes on: slow for certain, on any machine. */
  async function whileLocked(tables: readonly string[], work: () => Promise<void>): Promise<void> {
    await waitFor(() => lock(tables), 'all tables');
    try {
      await work();
    } finally {
      await locker.query('ROLLBACK');
    }
  }

  /** Returns whether all tables are locked. A query that has some of them and waits for others makes it start again. */
  async function lock(tables: readonly string[]): Promise<boolean> {
    await locker.query('BEGIN');
    try {
      await locker.query(`LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`);
      return true;
    } catch (error) {
      await locker.query('ROLLBACK');
      if ((error as { code?: string }).code !== DEADLOCK) throw error;
      return false;
    }
  }

  /** While the tables are locked, the service gets ready. One late probe on a busy machine does not fail the test. */
  const isReady = () =>
    waitFor(async () => (await get(target.origin, READY)).status === 200, 'the service to be ready', NOT_HANGING_MS);

  /** The statuses, as they come. */
  function requestReports(count: number, key: string): number[] {
    const statuses: number[] = [];
    const from = new Date(Date.now() - 364 * DAY_MS).toISOString().slice(0, 10);
    const options = { key, method: 'GET', path: `/api/v1/usage?from=${from}` };
    for (let report = 0; report < count; report++) {
      openStream(target.origin, options).then(
        ({ status }) => statuses.push(status),
        () => statuses.push(0),
      );
    }
    return statuses;
  }

  it('make keys unavailable, not trusted: the database is there', async () => {
    const { key } = await target.installation.createKey('locked@example.com');
    expect(await statusOf(target, key)).toBe(200);

    await whileLocked(['api_keys'], async () => {
      await waitFor(async () => (await statusOf(target, key)) !== 200, 'what is remembered to be too old');
      const started = performance.now();
      const answers = await Promise.all(Array.from({ length: 30 }, () => stream(target.origin, { key })));
      expect(performance.now() - started).toBeLessThan(NOT_HANGING_MS);
      for (const answer of answers) {
        expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
        expect((await answer.error()).code).toBe('unavailable');
      }
      await isReady();
    });

    await waitFor(async () => (await statusOf(target, key)) === 200, 'the key to work again', NOT_HANGING_MS);
    expect(target.process.stdout).not.toContain('is unavailable (');
  }, 60_000);

  it('hold up reports, and no key: a revoked one is refused within a second', async () => {
    const honest = await target.installation.createKey('honest@example.com');
    const revoked = await target.installation.createKey('revoked@example.com');
    const attacker = await target.installation.createKey('attacker@example.com');
    for (const { key } of [honest, revoked, attacker]) expect(await statusOf(target, key)).toBe(200);
    const { rows } = await locker.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() AND tablename LIKE 'usage%'",
    );

    let statuses: number[] = [];
    const refused = Array.from({ length: 28 }, () => 429);
    await whileLocked(
      rows.map(({ name }) => name),
      async () => {
        statuses = requestReports(30, attacker.key);
        await target.installation.admin('key', 'revoke', '--id', revoked.id);
        const revokedAt = performance.now();
        const health = await target.healthDuring(async () => {
          for (let rounds = 0; rounds < ROUNDS;) {
            const sentAt = performance.now();
            expect(await statusOf(target, honest.key)).toBe(200);
            const status = await statusOf(target, revoked.key);
            if (sentAt < revokedAt + KNOWN_WITHIN_MS) continue;
            expect(status).toBe(401);
            rounds += 1;
          }
        });
        expect(health.longestMs).toBeLessThan(MAX_HEALTH_MS);
        await isReady();
        expect(statuses).toEqual(refused);
        const shed = valueOf(await target.metrics(), 'chat_shed_total', { reason: 'usage_reports' });
        expect(shed).toBe(28);
      },
    );
    await waitFor(() => statuses.length === 30, 'the reports that waited');
    expect(statuses).toEqual([...refused, 200, 200]);
    expect(target.process.stdout).not.toContain('is unavailable (');
  }, 60_000);
});
