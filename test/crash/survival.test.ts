import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { configFile, routesTo } from '../support/catalog.js';
import { testEngines } from '../support/database.js';
import { Installation } from '../support/process.js';
import { closedPort } from '../support/silent-server.js';
import { get, openStream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { wireOf } from '../support/wire.js';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
/** The name of the connections in the server, which other tests use, too. */
const NAME = `survival-${randomUUID()}`;
const postgres = (await testEngines()).find(({ name }) => name === 'PostgreSQL');

describe('a process whose output fails', () => {
  let installation: Installation;
  beforeAll(async () => {
    installation = await Installation.create(configFile(routesTo(['http://127.0.0.1:9'])));
  });
  afterAll(() => installation.remove());

  it.each(['production', 'development'])('(%s) serves on a full disk, and ends when it is told to', async (mode) => {
    const full = openSync('/dev/full', 'w');
    const port = await closedPort();
    const env = { ...installation.env, PORT: String(port), NODE_ENV: mode, LOG_LEVEL: 'debug' };
    const service = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', full, full] });
    closeSync(full);
    const exited = once(service, 'exit');
    try {
      const isHealthy = () => get(`http://127.0.0.1:${port}`, '/api/v1/health').then(({ status }) => status === 200);
      await waitFor(() => isHealthy().catch(() => false), 'the service to answer', 30_000);
      // Some more lines of the log.
      for (let n = 0; n < 20; n++) expect(await isHealthy()).toBe(true);
      service.kill('SIGTERM');
      expect(await exited).toEqual([0, null]);
    } finally {
      service.kill('SIGKILL');
    }
  });

  it('serves after the reader of its output has ended', async () => {
    const other = await Installation.create(configFile(routesTo(['http://127.0.0.1:9'])));
    try {
      const port = await closedPort();
      const service = other.start({ PORT: String(port), NODE_ENV: 'development' });
      service.closeOutput();
      const isHealthy = () => get(`http://127.0.0.1:${port}`, '/api/v1/health').then(({ status }) => status === 200);
      await waitFor(() => isHealthy().catch(() => false), 'the service to answer', 30_000);
      // The first start then prints the credentials of the account.
      const email = await waitFor(
        async () => ((await other.admin('account', 'list')) as unknown as { email: string }[])[0]?.email,
        'the first account',
      );
      await waitFor(async () => (await other.admin('key', 'list', '--email', email)).length, 'the first key');
      expect(await isHealthy()).toBe(true);
      service.signal('SIGTERM');
      expect((await service.exited).code).toBe(0);
    } finally {
      await other.remove();
    }
  });
});

describe.skipIf(postgres === undefined)('a process whose PostgreSQL ends connections', () => {
  let provider: ScriptedProvider;
  beforeAll(async () => {
    provider = await ScriptedProvider.start();
  });
  afterEach(() => provider.stop());

  it('serves on, and has a record of each answer', { timeout: 120_000 }, async () => {
    const database = await (postgres as NonNullable<typeof postgres>).create();
    const url = database.config.type === 'postgres' ? database.config.url : '';
    const installation = await Installation.create(configFile(routesTo([provider])), {
      DATABASE_URL: `${url}&application_name=${NAME}`,
    });
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    try {
      const { key } = await installation.createKey();
      provider.answers((call) => {
        call.head().text('Hello').finish().endMarker().end();
      });
      const service = installation.start();
      const origin = await service.origin();
      const until = performance.now() + 8_000;
      const terminate = async (): Promise<void> => {
        while (performance.now() < until) {
          await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
            NAME,
          ]);
          await sleep(20);
        }
      };
      let complete = 0;
      const talk = async (): Promise<void> => {
        while (performance.now() < until) {
          const answer = await openStream(origin, { key });
          if (answer.status === 200 && (await wireOf(answer)).terminal === 'done') complete += 1;
        }
      };
      await Promise.all([terminate(), talk(), talk()]);
      expect(service.hasExited).toBe(false);
      service.signal('SIGTERM');
      expect((await service.exited).code).toBe(0);
      const { rows } = await admin.query<{ count: string }>(
        `SELECT COUNT(*) AS count FROM usage_records WHERE outcome = 'completed'`,
      );
      expect(Number(rows[0]?.count)).toBe(complete);
    } finally {
      await installation.remove();
      await admin.end();
      await database.drop();
    }
  });

  it('releases the money of a request that is reserved while the process stops', { timeout: 120_000 }, async () => {
    const database = await (postgres as NonNullable<typeof postgres>).create();
    const url = database.config.type === 'postgres' ? database.config.url : '';
    const price = { input_per_million: 1, output_per_million: 1 };
    const tiers = { free: { budget: { amount: 100, per: 'month' } } };
    const provider = await ScriptedProvider.start();
    const installation = await Installation.create(configFile(routesTo([provider], {}, price), tiers), {
      DATABASE_URL: url,
    });
    const locker = new pg.Client({ connectionString: url });
    await locker.connect();
    // A transaction sees the activity of the server as it was when it looked first.
    const observer = new pg.Client({ connectionString: url });
    await observer.connect();
    const rows = async (sql: string) => (await observer.query<Record<string, string>>(sql)).rows;
    try {
      const { key } = await installation.createKey();
      provider.answers((call) => {
        call.head().text('Hello').finish().endMarker().end();
      });
      const service = installation.start({ SHUTDOWN_GRACE_SECONDS: '1' });
      const origin = await service.origin();
      expect((await openStream(origin, { key })).status).toBe(200);

      await locker.query('BEGIN');
      await locker.query('SELECT 1 FROM accounts FOR UPDATE');
      const asked = openStream(origin, { key });
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%accounts%'
        AND ${String(Reflect.get(locker, 'processID'))} = ANY (pg_blocking_pids(pid))`;
      await waitFor(async () => (await rows(waiting)).length > 0, 'the request to wait for its money');
      service.signal('SIGTERM');
      await waitFor(async () => (await get(origin, '/api/v1/health/ready')).status === 503, 'the process to drain');
      // The grace is over: the request must not call the provider when it gets its money.
      await sleep(1_200);
      await locker.query('COMMIT');

      const answer = await asked;
      expect([answer.status, (await answer.error()).code]).toEqual([503, 'shutting_down']);
      expect((await service.exited).code).toBe(0);
      expect(provider.calls).toHaveLength(1);
      expect(await rows('SELECT * FROM budget_holds')).toEqual([]);
    } finally {
      await locker.end();
      await observer.end();
      await installation.remove();
      await database.drop();
      await provider.stop();
    }
  });
});
