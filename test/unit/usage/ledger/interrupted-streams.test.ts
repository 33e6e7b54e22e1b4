import { SHARED_LIMITS } from '../../../support/shared-limits.js';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InterruptedStreams } from '../../../../src/usage/ledger/interrupted-streams.js';
import { interruptedRecord } from '../../../../src/testing/stores/usage-records.js';
import type { RecordWriter } from '../../../../src/usage/ledger/record-writer.js';
import type { UsageRecord } from '../../../../src/usage/record/usage-record.js';
import type { DeadLetter } from '../../../../src/usage/store/usage-store.js';
import { started } from '../../../contract/usage/records.js';
import { Latch, isOver } from '../../../support/latch.js';
import { turn } from '../../../support/moved-time.js';
import { ScriptedStore } from './scripted-store.js';

const BEAT_MS = 10_000;
const RECHECK_MS = 300;

let store: ScriptedStore;
let written: UsageRecord[][];
let deadLetters: DeadLetter[];
/** How long the writer takes for one call. */
let writing: () => Promise<void>;
/** How many of the records one call writes. */
let most: number;
let interrupted: InterruptedStreams;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  vi.spyOn(Logger.prototype, 'debug').mockReturnValue();
  store = new ScriptedStore();
  [written, deadLetters] = [[], []];
  writing = () => Promise.resolve();
  most = Infinity;
  interrupted = new InterruptedStreams(
    store,
    {
      async writeSome(records: readonly UsageRecord[]) {
        await writing();
        written.push(records.slice(0, most));
        return Math.min(most, records.length);
      },
      async deadLetter(record: DeadLetter) {
        await writing();
        deadLetters.push(record);
      },
    } as unknown as RecordWriter,
    SHARED_LIMITS,
  );
});
afterEach(async () => {
  writing = () => Promise.resolve();
  delete store.results.leave;
  await interrupted.leave();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const batch = (id: string, count = 1) => ({ id, streams: Array.from({ length: count }, () => started()) });

describe('the streams of killed processes', () => {
  it('are recorded before the service starts, and then looked for every ten seconds', async () => {
    const batches = [batch('one', 2), batch('two')];
    store.found.push(batches);
    await interrupted.onApplicationBootstrap();
    expect(written).toEqual([batches.flatMap(({ streams }) => streams).map(interruptedRecord)]);
    expect(store.closed).toEqual(['one', 'two']);
    expect(store.takeCalls()).toEqual(['beat', 'abandoned', 'close 2', 'abandoned']);
    expect(deadLetters).toEqual([]);

    await turn(BEAT_MS - 1);
    expect(store.takeCalls()).toEqual([]);
    await turn(1);
    expect(store.takeCalls()).toEqual(['beat', 'abandoned']);
    expect((Reflect.get(interrupted, 'timer') as NodeJS.Timeout).hasRef()).toBe(false);
  });

  it('hold up the start until they are recorded', async () => {
    const latch = new Latch();
    store.found.push([batch('one')]);
    writing = () => latch.opened;
    const start = interrupted.onApplicationBootstrap();
    expect(await isOver(start)).toBe(false);
    latch.open();
    await start;
    expect(store.closed).toEqual(['one']);
  });

  it('are closed after they are written, and looked for again after they are closed', async () => {
    store.found.push([batch('one')], [batch('two')]);
    const [toWrite, toClose] = [new Latch(), new Latch()];
    writing = () => toWrite.opened;
    store.results.close = () => toClose.opened;
    const start = interrupted.onApplicationBootstrap();
    await turn();
    expect(store.takeCalls()).toEqual(['beat', 'abandoned']);
    toWrite.open();
    await turn();
    expect(store.takeCalls()).toEqual(['close 1']);
    toClose.open();
    await start;
    expect(store.takeCalls()).toEqual(['abandoned', 'close 1', 'abandoned']);
  });

  it('are written fifty at once, and again from where the writer has stopped', async () => {
    store.found.push([batch('one', 120)]);
    await interrupted.onApplicationBootstrap();
    expect(written.map(({ length }) => length)).toEqual([50, 50, 20]);
    written = [];
    most = 30;
    const again = batch('two', 61);
    store.found.push([again]);
    await interrupted.checkSoon();
    expect(written.flat().map(({ requestId }) => requestId)).toEqual(again.streams.map(({ requestId }) => requestId));
  });

  it('whose entry cannot be read become a dead letter with it, before it is closed', async () => {
    const latch = new Latch();
    writing = () => latch.opened;
    store.found.push([{ id: 'broken', streams: [], unreadable: '{' }]);
    const start = interrupted.onApplicationBootstrap();
    await turn();
    expect(store.closed).toEqual([]);
    latch.open();
    await start;
    const reason = 'The intents of interrupted streams cannot be read.';
    expect(deadLetters).toEqual([{ id: 'broken', requestId: undefined, reason, record: '{' }]);
    expect(store.closed).toEqual(['broken']);
  });

  it('are left for the next round when the store fails', async () => {
    store.results.beat = () => Promise.reject(new Error('away'));
    await interrupted.onApplicationBootstrap();
    expect(store.takeCalls()).toEqual(['beat']);
    delete store.results.beat;
    store.found.push([batch('one')]);
    await turn(BEAT_MS);
    expect(store.closed).toEqual(['one']);
  });

  it('keep their intents when they cannot be written', async () => {
    const failure = new Error('away');
    writing = () => Promise.reject(failure);
    store.found.push([batch('one')]);
    await interrupted.onApplicationBootstrap();
    expect(store.takeCalls()).toEqual(['beat', 'abandoned']);
    expect(vi.mocked(Logger.prototype.debug).mock.calls).toEqual([[failure]]);
  });
});

describe('a check because of a missing receipt', () => {
  it('is made at once, and shared by concurrent requests', async () => {
    const latch = new Latch();
    store.results.abandoned = () => latch.opened;
    const [first, second] = [interrupted.checkSoon(), interrupted.checkSoon()];
    expect([await isOver(first), await isOver(second)]).toEqual([false, false]);
    latch.open();
    await Promise.all([first, second]);
    expect(store.takeCalls()).toEqual(['beat', 'abandoned urgently']);
  });

  it('is made 0.3 seconds after the last one', async () => {
    await interrupted.checkSoon();
    store.takeCalls();
    const startedAt = performance.now();
    await interrupted.checkSoon();
    expect(performance.now() - startedAt).toBeGreaterThan(RECHECK_MS - 50);
    expect(store.takeCalls()).toEqual(['beat', 'abandoned urgently']);
  });

  it('shares the round that runs', async () => {
    await interrupted.onApplicationBootstrap();
    store.takeCalls();
    const latch = new Latch();
    store.results.beat = () => latch.opened;
    await turn(BEAT_MS);
    const look = interrupted.checkSoon();
    expect(await isOver(look)).toBe(false);
    latch.open();
    await look;
    expect(store.takeCalls()).toEqual(['beat', 'abandoned']);
  });
});

describe('a process that leaves', () => {
  it('is removed from the store after the round that runs, and waits for that', async () => {
    await interrupted.onApplicationBootstrap();
    store.takeCalls();
    const [round, removal] = [new Latch(), new Latch()];
    store.results.beat = () => round.opened;
    store.results.leave = () => removal.opened;
    await turn(BEAT_MS);
    const leaving = interrupted.leave();
    expect(await isOver(leaving)).toBe(false);
    expect(store.takeCalls()).toEqual(['beat']);
    round.open();
    expect(await isOver(leaving)).toBe(false);
    expect(store.takeCalls()).toEqual(['abandoned', 'leave']);
    removal.open();
    await leaving;
  });

  it('checks no more, and does not fail without the store', async () => {
    await interrupted.onApplicationBootstrap();
    store.takeCalls();
    store.results.leave = () => Promise.reject(new Error('away'));
    await interrupted.leave();
    await turn(2 * BEAT_MS);
    await interrupted.checkSoon();
    expect(store.takeCalls()).toEqual(['leave']);
  });
});
