import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Principal } from '../../src/auth/principal/principal.js';
import type { ModelConfig } from '../../src/config/config.js';
import { CallTrace } from '../../src/upstreams/completion/call-trace.js';
import { InterruptedStreams } from '../../src/usage/ledger/interrupted-streams.js';
import { RecordWriter } from '../../src/usage/ledger/record-writer.js';
import { UsageLedger } from '../../src/usage/ledger/usage-ledger.js';
import type { UsageRecord } from '../../src/usage/record/usage-record.js';
import { UsageStore } from '../../src/usage/store/usage-store.js';
import { Gate } from '../support/gate.js';
import { waitFor } from '../support/wait-for.js';
import { extensionsOf } from '../support/extensions.js';

const PRINCIPAL = { accountId: 'ada', tier: { name: 'free' }, credential: { kind: 'external', id: 'x' } } as Principal;
const MODEL = { id: 'acme/fast', contextLength: 1000 } as ModelConfig;

/** By then a process looks for interrupted streams again. */
const LONG_MS = 10_000;

/** Writes down the order of its calls. Each kind of call can be made to wait. */
class GatedStore extends UsageStore {
  readonly calls: string[] = [];
  readonly gates: Partial<Record<'append' | 'beat' | 'close', Gate>> = {};

  open = () => this.call('open');
  close = () => this.call('close');
  beat = () => this.call('beat');
  leave = () => this.call('leave');
  append = (records: readonly UsageRecord[]) =>
    this.call('append', ` ${records.map(({ requestId }) => requestId).join()}`);

  async abandoned() {
    await Promise.resolve();
    return [];
  }

  private async call(name: 'append' | 'beat' | 'close' | 'open' | 'leave', what = ''): Promise<void> {
    this.calls.push(name + what);
    if (name === 'append' || name === 'beat' || name === 'close') await this.gates[name]?.opened;
    this.calls.push(`${name} done`);
  }
}

function opened() {
  const store = new GatedStore();
  const writer = new RecordWriter(store);
  const interrupted = new InterruptedStreams(store, writer);
  const ledger = new UsageLedger(store, writer, interrupted, extensionsOf(), Date.now);
  const stream = async (requestId: string) => {
    const entry = ledger.begin(requestId, PRINCIPAL, MODEL);
    await entry.kept;
    entry.end(undefined, new CallTrace(requestId), []);
  };
  return { store, ledger, interrupted, stream };
}

describe('the ledger of a process that stops', () => {
  beforeAll(() => {
    Logger.overrideLogger(false);
  });
  afterAll(() => {
    Logger.overrideLogger(undefined as never);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('waits for the round of writing that runs, then writes the rest, and leaves last', async () => {
    const { store, ledger, stream } = opened();
    const gate = (store.gates.append = new Gate());
    await stream('first');
    await waitFor(() => store.calls.includes('append first'), 'the round to begin');
    await stream('second');

    const stopped = ledger.beforeApplicationShutdown();
    await new Promise(setImmediate);
    expect(store.calls.filter((call) => call.startsWith('append'))).toEqual(['append first']);
    gate.open();
    await stopped;

    expect(store.calls.filter((call) => !call.startsWith('open'))).toEqual([
      ...['append first', 'append done', 'append second', 'append done', 'close', 'close done'],
      ...['leave', 'leave done'],
    ]);
    expect(ledger.queued).toBe(0);
  });

  it('leaves only when its look for interrupted streams is over', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { store, ledger, interrupted } = opened();
    await interrupted.onApplicationBootstrap();
    const gate = (store.gates.beat = new Gate());
    vi.advanceTimersByTime(LONG_MS);

    const stopped = ledger.beforeApplicationShutdown();
    await new Promise(setImmediate);
    expect(store.calls).toEqual(['beat', 'beat done', 'beat']);
    gate.open();
    await stopped;

    expect(store.calls).toEqual(['beat', 'beat done', 'beat', 'beat done', 'leave', 'leave done']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('looks for interrupted streams again after a look that failed, and once at a time', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { store, interrupted } = opened();
    await interrupted.onApplicationBootstrap();
    const gate = (store.gates.beat = new Gate());
    store.abandoned = () => Promise.reject(new Error('The database is unavailable.'));
    vi.advanceTimersByTime(3 * LONG_MS);
    await new Promise(setImmediate);
    expect(store.calls).toEqual(['beat', 'beat done', 'beat']);
    gate.open();
    await new Promise(setImmediate);

    vi.advanceTimersByTime(LONG_MS);
    await new Promise(setImmediate);

    expect(store.calls.filter((call) => call === 'beat done')).toHaveLength(3);
    await interrupted.leave();
  });
});
