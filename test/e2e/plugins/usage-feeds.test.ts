import { Injectable } from '@nestjs/common';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ChatPlugin, type LedgerRow, type UsageFeed } from '../../../src/index.js';
import { Extensions } from '../../../src/platform/common/extensions/extensions.js';
import { usePace } from '../../../src/platform/common/timers/pace.js';
import { OutboxDelivery } from '../../../src/platform/outbox/outbox-delivery.js';
import { OutboxEntries } from '../../../src/platform/outbox/outbox-entries.js';
import { DELIVERED_RECORDS, UsageFeeds } from '../../../src/usage/usage-feeds.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { interruptedRecord, testStartedStream } from '../../support/usage-records.js';
import { testEngines, type TestDatabase } from '../../support/database.js';
import { stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';

const DAY_MS = 86_400_000;

let isDown = false;
let refused = 0;
/** What a delivery waits for. */
let mayDeliver = Promise.resolve();
let deliveries = 0;
let mostAtOnce = 0;
let delivered: LedgerRow[] = [];

@Injectable()
class Billing implements UsageFeed {
  readonly name = 'acme-billing';
  async deliver(records: readonly LedgerRow[]): Promise<void> {
    if (isDown) {
      refused += 1;
      throw new Error('The receiver is unavailable.');
    }
    deliveries += 1;
    mostAtOnce = Math.max(mostAtOnce, deliveries);
    await mayDeliver;
    deliveries -= 1;
    delivered.push(...records);
  }
}

@ChatPlugin({ name: 'acme', compatibility: '^1', usageFeeds: [Billing] })
class Plugin {}

describe.each(await testEngines())('a usage feed on $name', (engine) => {
  let database: TestDatabase;
  let folder: string;
  let stage: Stage | undefined;

  beforeEach(() => usePace(10));
  beforeEach(async () => {
    database = await engine.create();
    folder = await mkdtemp(join(tmpdir(), 'chat-feeds-'));
    [isDown, delivered] = [false, []];
    [refused, mayDeliver, deliveries, mostAtOnce] = [0, Promise.resolve(), 0, 0];
  });
  afterEach(async () => {
    await stage?.clear();
    stage = undefined;
    await database.drop();
    await rm(folder, { recursive: true });
  });

  async function started(): Promise<Stage> {
    const { config } = database;
    const url = config.type === 'postgres' ? config.url : `sqlite:${join(folder, 'chat.sqlite')}`;
    return (stage = await setStage(1, { plugins: [Plugin], env: { DATABASE_URL: url } }));
  }
  const ask = async ({ origin, key }: Stage): Promise<string> =>
    String((await stream(origin, { key })).headers['x-request-id']);
  const arrived = (requestId: string) =>
    waitFor(() => delivered.find((row) => row.request_id === requestId), 'the delivered record');

  it('gets each record, with the columns of the ledger', async () => {
    const requestId = await ask(await started());
    expect(await arrived(requestId)).toMatchObject({
      outcome: 'completed',
      attempts: 1,
      prompt_tokens_source: expect.any(String) as unknown,
      started_at: expect.stringMatching(/Z$/) as unknown,
    });
    expect(delivered).toHaveLength(1);
  });

  it('gets the records of a time without a receiver after a restart, and those of killed processes', async () => {
    isDown = true;
    const first = await started();
    const missed = await ask(first);
    const store = first.service.app.get(UsageStore, { strict: false });
    await waitFor(async () => (await store.abandoned()).length === 0 || undefined, 'written records');
    // A record that was not delivered must not be removed.
    await waitFor(() => refused > 0 || undefined, 'a delivery that fails');
    await first.clear();
    stage = undefined;

    isDown = false;
    const restarted = await started();
    await arrived(missed);
    const again = restarted.service.app.get(UsageStore, { strict: false });
    const interrupted = interruptedRecord(testStartedStream());
    await again.append([interrupted]);
    expect(await arrived(interrupted.requestId)).toMatchObject({ outcome: 'interrupted', prompt_tokens: null });
    await again.append([{ ...interrupted, outcome: 'completed' }]);
    await waitFor(
      () => delivered.find((row) => row.id === interrupted.id && row.outcome === 'completed'),
      'the correction',
    );
  });

  it('is delivered by one process at a time', async () => {
    let deliver: () => void = () => undefined;
    mayDeliver = new Promise((resolve) => (deliver = resolve));
    const owns = vi.spyOn(OutboxEntries.prototype, 'own');
    const running = await started();
    const requestId = await ask(running);
    await waitFor(() => mostAtOnce > 0 || undefined, 'the first delivery');
    const [, , owner, from = 0, until = 0] = owns.mock.calls.at(-1) ?? [];
    // A delivery can take 30 seconds.
    expect(until - from).toBeGreaterThan(30_000);
    // The feeds of another process, with the same database.
    const { app } = running.service;
    const get = <T>(type: abstract new (...args: never[]) => T): T => app.get<T>(type, { strict: false });
    const others = new OutboxDelivery(get(OutboxEntries), Date.now);
    await new UsageFeeds(others, get(Extensions)).onApplicationBootstrap();
    const otherRounds = () => owns.mock.calls.filter(([, , process]) => process !== owner).length;
    await waitFor(() => otherRounds() >= 2 || undefined, 'two rounds of the other process');
    expect([mostAtOnce, delivered]).toEqual([1, []]);
    deliver();
    await arrived(requestId);
    await others.beforeApplicationShutdown();
    expect(delivered).toHaveLength(1);
    owns.mockRestore();
  });

  it('is kept for 30 days without a process that has it', async () => {
    const { app } = (await started()).service;
    const get = <T>(type: abstract new (...args: never[]) => T): T => app.get<T>(type, { strict: false });
    const entries = get(OutboxEntries);
    const records = DELIVERED_RECORDS;
    for (const days of [29, 31]) await entries.register(records, `seen-${days}-days-ago`, Date.now() - days * DAY_MS);
    const others = new OutboxDelivery(entries, Date.now);
    await new UsageFeeds(others, get(Extensions)).onApplicationBootstrap();
    await others.beforeApplicationShutdown();
    const kept = await Promise.all([29, 31].map((days) => entries.own(records, `seen-${days}-days-ago`, 'me', 0, 0)));
    expect(kept).toEqual([true, false]);
  });
});
