import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configFile, routesTo } from '../support/catalog.js';
import { testEngines, type TestDatabase } from '../support/database.js';
import { Installation, SpawnedProcess } from '../support/process.js';
import { ScriptedProvider, type Script } from '../../src/testing/provider/scripted-provider.js';
import { openStream, type ReceivedStream } from '../support/sse-client.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';

const POSTGRES_PORT = 5432;
const postgres = (await testEngines()).find(({ name }) => name === 'PostgreSQL');

/** How the provider treats a request; all but the first two leave the stream open until somebody ends it. */
const BEHAVIOURS: readonly Script[] = [
  (call) => {
    call.answer('Hello', ' world');
  },
  (call) => {
    call.refuse(500);
  },
  (call) => {
    call.head().text('On and on');
  },
];

describe.skipIf(postgres === undefined)('the ledger on PostgreSQL, with faults', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let provider: ScriptedProvider;
  let installation: Installation;
  let env: Record<string, string>;
  let key: string;
  const open = new Set<ReceivedStream>();
  let admitted = 0;

  beforeEach(async () => {
    database = await (postgres as NonNullable<typeof postgres>).create();
    proxy = await TcpProxy.start(POSTGRES_PORT);
    provider = (await ScriptedProvider.start()).closesConnections();
    installation = await Installation.create(configFile(routesTo([provider])));
    const url = new URL(database.config.type === 'postgres' ? database.config.url : '');
    const direct = url.toString();
    url.port = String(proxy.port);
    env = { DATABASE_URL: url.toString(), SHUTDOWN_GRACE_SECONDS: '0' };
    admitted = 0;
    open.clear();
    await admin(direct, 'account', 'create', '--email', 'a@example.com', '--password', 'correct horse battery');
    ({ key } = JSON.parse(await admin(direct, 'key', 'create', '--email', 'a@example.com', '--name', 'test')) as {
      key: string;
    });
  }, 60_000);
  afterEach(async () => {
    await installation.remove();
    await proxy.stop();
    await provider.stop();
    await database.drop();
  });

  async function admin(url: string, ...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await new SpawnedProcess('admin.js', words, { DATABASE_URL: url }).exited;
    if (code !== 0) throw new Error(stderr);
    return stdout;
  }

  /** So many streams of every behaviour; each has been heard of by its client when this resolves. */
  async function load(origin: string, count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      for (const behaviour of BEHAVIOURS) {
        provider.next(behaviour);
        const answer = await openStream(origin, { key });
        expect([200, 502]).toContain(answer.status);
        admitted++;
        open.add(answer);
      }
    }
  }

  /** Some of the clients leave. */
  function leave(): void {
    for (const answer of [...open].filter((_, index) => index % 2 === 0)) {
      answer.leave();
      open.delete(answer);
    }
  }

  async function accountedFor(): Promise<number> {
    const { DATABASE_URL = '' } = env;
    const rows = JSON.parse(await admin(DATABASE_URL, 'usage')) as { requests: number }[];
    return rows.reduce((sum, { requests }) => sum + requests, 0);
  }

  it('accounts for every admitted stream of a run with kills and outages in it', async () => {
    let first = installation.start(env);
    const second = installation.start(env);
    const origin = await second.origin();
    await load(await first.origin(), 4);
    await load(origin, 4);
    leave();

    // Killed with open streams; another process takes its place.
    first.signal('SIGKILL');
    await first.exited;
    first = installation.start(env);
    await load(await first.origin(), 4);

    // The database is cut off while streams end, and comes back.
    proxy.cut();
    leave();
    await waitFor(() => /Usage records cannot be written/.test(second.stdout), 'the ledger to fall behind');
    proxy.restore();
    await waitFor(() => /Usage records are written again/.test(second.stdout), 'the ledger to catch up');
    await waitFor(async () => (await openStream(origin, { key })).status !== 503, 'the database to be back');
    admitted++;

    // It hangs, while streams begin and end.
    await load(origin, 2);
    proxy.stall();
    leave();
    proxy.restore();
    await load(origin, 2);

    // One is told to stop and has no time, one is killed.
    first.signal('SIGTERM');
    await load(origin, 2);
    expect((await first.exited).code).toBe(0);
    second.signal('SIGKILL');
    await second.exited;

    await installation.start(env).origin();
    await waitFor(async () => (await accountedFor()) >= admitted, 'the ledger to be complete');
    expect(await accountedFor()).toBe(admitted);
  }, 120_000);
});
