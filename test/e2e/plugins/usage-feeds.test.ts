import { Injectable } from '@nestjs/common';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ChatPlugin, type LedgerRow, type UsageFeed, type UsageSink } from '../../../src/index.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { interruptedRecord, testBegunStream } from '../../../src/testing/stores/usage-records.js';
import { testEngines, type TestDatabase } from '../../support/database.js';
import { stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';

let isDown = false;
let delivered: LedgerRow[] = [];
let sinkMayEnd = Promise.resolve();
let sunk = 0;

@Injectable()
class Billing implements UsageFeed {
  readonly name = 'acme-billing';
  deliver(records: readonly LedgerRow[]): Promise<void> {
    if (isDown) return Promise.reject(new Error('The receiver is unavailable.'));
    delivered.push(...records);
    return Promise.resolve();
  }
}

@Injectable()
class SlowSink implements UsageSink {
  async record(): Promise<void> {
    await sinkMayEnd;
    sunk++;
  }
}

@ChatPlugin({ name: 'acme', compatibility: '^1', usageFeeds: [Billing], usageSinks: [SlowSink] })
class Plugin {}

describe.each(await testEngines())('a usage feed on $name', (engine) => {
  let database: TestDatabase;
  let folder: string;
  let stage: Stage | undefined;

  beforeEach(async () => {
    database = await engine.create();
    folder = await mkdtemp(join(tmpdir(), 'chat-feeds-'));
    [isDown, delivered, sinkMayEnd, sunk] = [false, [], Promise.resolve(), 0];
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
    await first.clear();
    stage = undefined;

    isDown = false;
    const second = await started();
    await arrived(missed);
    const again = second.service.app.get(UsageStore, { strict: false });
    const interrupted = interruptedRecord(testBegunStream());
    await again.append([interrupted]);
    expect(await arrived(interrupted.requestId)).toMatchObject({ outcome: 'interrupted', prompt_tokens: null });
    await again.append([{ ...interrupted, outcome: 'completed' }]);
    await waitFor(
      () => delivered.find((row) => row.id === interrupted.id && row.outcome === 'completed'),
      'the correction',
    );
  });

  it('leaves a sink time for its last records at the shutdown', async () => {
    let mayEnd: () => void = () => undefined;
    sinkMayEnd = new Promise((resolve) => (mayEnd = resolve));
    const running = await started();
    await ask(running);
    setTimeout(mayEnd, 300);
    await running.clear();
    stage = undefined;
    expect(sunk).toBe(1);
  });
});
