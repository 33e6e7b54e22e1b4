import { afterEach, describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import type { AuditEntry } from '../../../src/accounts/audit/audit-log.js';
import type { AuditSink } from '../../../src/accounts/audit/audit-sinks.js';
import { ChatPlugin } from '../../../src/plugin-api/chat-plugin.decorator.js';
import { testEngines, urlOf, type TestDatabase } from '../../support/database.js';
import { createTestService, type TestService } from '../../../src/testing/service/test-service.js';
import { waitFor } from '../../support/wait-for.js';

/** Keeps what it gets, and refuses it on demand. */
class KeepingSink implements AuditSink {
  readonly name = 'kept';
  readonly kept: AuditEntry[] = [];
  refuses = false;

  deliver(entries: readonly AuditEntry[]): Promise<void> {
    if (this.refuses) return Promise.reject(new Error('The receiver is unavailable'));
    this.kept.push(...entries);
    return Promise.resolve();
  }
}

function pluginOf(...sinks: readonly AuditSink[]): new () => object {
  @ChatPlugin({ name: 'archive', compatibility: '^1', auditSinks: sinks.map((sink) => ({ useFactory: () => sink })) })
  class ArchivePlugin {}
  return ArchivePlugin;
}

describe.each(await testEngines())('the audit sinks of plugins on $name', (engine) => {
  let database: TestDatabase;
  const services: TestService[] = [];

  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.stop()));
    await database.drop();
  });

  const start = async (...sinks: readonly AuditSink[]) => {
    const url = urlOf(database);
    const service = await createTestService({ env: { DATABASE_URL: url }, plugins: [pluginOf(...sinks)], pace: 10 });
    services.push(service);
    return service;
  };
  const stop = async (service: TestService) => {
    services.splice(services.indexOf(service), 1);
    await service.stop();
  };
  let accounts = 0;
  const createAccount = async ({ app }: TestService) =>
    (await app.get(AccountsService, { strict: false }).create({ email: `sink-${accounts++}@example.com` })).id;
  const gets = (sink: KeepingSink, accountId: string) =>
    waitFor(() => sink.kept.find(({ target }) => target.startsWith(`account:${accountId}`)), 'the entry');

  it('get every entry once while the service runs, also the entries before the sink was added', async () => {
    database = await engine.create();
    const before = await start();
    const first = await createAccount(before);
    await stop(before);
    const sink = new KeepingSink();
    const service = await start(sink);
    await gets(sink, first);
    const created = [first];
    for (let index = 0; index < 5; index++) created.push(await createAccount(service));
    await gets(sink, created.at(-1) ?? '');
    const actions = sink.kept.filter(({ action }) => action === 'account.created');
    expect(actions.map(({ target }) => /account:(\S+)/.exec(target)?.[1])).toEqual(created);
    expect(new Set(sink.kept.map(({ id }) => id)).size).toBe(sink.kept.length);
  }, 60_000);

  it('get each entry once, from the only process on SQLite and from two replicas on PostgreSQL', async () => {
    database = await engine.create();
    const sinks = engine.name === 'PostgreSQL' ? [new KeepingSink(), new KeepingSink()] : [new KeepingSink()];
    const replicas: TestService[] = [];
    for (const sink of sinks) replicas.push(await start(sink));
    const ids: string[] = [];
    for (const replica of [...replicas, ...replicas]) ids.push(await createAccount(replica));
    const all = () => sinks.flatMap(({ kept }) => kept).filter(({ action }) => action === 'account.created');
    await waitFor(() => (all().length >= ids.length ? true : undefined), 'all entries');
    expect(all()).toHaveLength(ids.length);
  }, 60_000);
});
