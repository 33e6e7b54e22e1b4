import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOCKED_BY_PROCESSES } from '../../src/platform/database/postgres/postgres-availability.js';
import { configFile, routesTo } from '../support/catalog.js';
import { testEngines } from '../support/database.js';
import { Installation } from '../support/process.js';
import { pgBouncer, RunningPgBouncer } from '../support/pg-bouncer.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { get, openStream, stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { wireOf } from '../support/wire.js';

const hasPostgres = (await testEngines()).some(({ name }) => name === 'PostgreSQL');

describe.skipIf(pgBouncer === undefined || !hasPostgres)('behind PgBouncer in transaction mode', () => {
  let provider: ScriptedProvider;
  let bouncer: RunningPgBouncer;
  let installation: Installation;

  beforeAll(async () => {
    provider = await ScriptedProvider.start();
    bouncer = await RunningPgBouncer.start();
    installation = await Installation.create(configFile(routesTo([provider])), { DATABASE_URL: bouncer.url });
  });
  afterAll(async () => {
    await installation.remove();
    await bouncer.stop();
    await provider.stop();
  });

  it('two replicas start at once, migrate, serve, record and revoke', async () => {
    const replicas = [installation.start(), installation.start()];
    const origins = await Promise.all(replicas.map((replica) => replica.origin()));
    expect(replicas[0]?.stdout).toContain('The pooler in front of PostgreSQL refuses time limits');
    const { id, key } = await installation.createKey();
    provider.answers((call) => {
      call.answer('Hello');
    });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => stream(origins[index % 2] ?? '', { key })),
    );
    for (const answer of answers) expect(await wireOf(answer)).toMatchObject({ text: 'Hello', terminal: 'done' });
    await waitFor(async () => {
      const { raw } = await get(origins[0] ?? '', '/api/v1/usage', { authorization: `Bearer ${key}` });
      return (JSON.parse(raw) as { usage: { completed: number }[] }).usage[0]?.completed === 40;
    }, 'all records');

    provider.next((call) => {
      call.head().text('Hi');
    });
    const running = await openStream(origins[1] ?? '', { key });
    await running.block(1);
    await installation.admin('key', 'revoke', '--id', id);
    expect(await wireOf(running)).toMatchObject({ terminal: 'key_revoked' });
    // Its connections are shared. A lock on one of them would say nothing about a process.
    expect(await bouncer.query('SELECT FROM usage_writers WHERE lock_key IS NOT NULL')).toEqual([]);
    expect(await bouncer.query(LOCKED_BY_PROCESSES)).toEqual([]);
    for (const replica of replicas) expect(replica.stdout).not.toMatch(/"level":(?:50|60)/);
  });
});
