import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { IntentLog, type StreamIntent } from '../../../../src/usage/ledger/intent-log.js';
import { UnstorableData } from '../../../../src/usage/store/ledger-text.js';
import type { IntentBatch } from '../../../../src/usage/store/started-streams.js';
import type { UsageStore } from '../../../../src/usage/store/usage-store.js';
import { started } from '../../../contract/usage/records.js';
import { Latch, isOver } from '../../../support/latch.js';

const AWAY = () => Promise.reject(new Error('The database is away.'));

describe('an intent log', () => {
  let opens: string[];
  let closes: number[];
  let failures: unknown[];
  let openResult: (batch: IntentBatch) => Promise<void>;
  let opened: Set<string>;
  let intents: IntentLog;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] });
    [opens, closes, failures, opened] = [[], [], [], new Set()];
    openResult = () => Promise.resolve();
    const store = {
      open: (batch: IntentBatch) => {
        opens.push(batch.streams.map(({ id }) => id).join(' '));
        opened.add(batch.id);
        return openResult(batch);
      },
      close: (ids: readonly string[]) => {
        closes.push(ids.filter((id) => opened.has(id)).length);
        return Promise.resolve();
      },
    };
    intents = new IntentLog(store as unknown as UsageStore, (...values: unknown[]) => failures.push(values[0]));
  });

  const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  const add = (id: string) => intents.add(started({ id }));
  /** Whether the intent is kept now. */
  const isKept = ({ stored }: StreamIntent): Promise<boolean> => isOver(stored);

  it('writes the streams of one turn together, at its end', async () => {
    add('a');
    add('b');
    expect(opens).toEqual([]);
    await advance(0);
    expect(opens).toEqual(['a b']);
  });

  it('writes streams together that begin soon after a write, the later the more that write had', async () => {
    add('a');
    await advance(0);
    add('b');
    await advance(1);
    for (const id of ['c', 'd', 'e', 'f', 'g', 'h']) add(id);
    expect(opens).toEqual(['a']);
    await advance(1);
    expect(opens).toEqual(['a', 'b c d e f g h']);
    add('i');
    await advance(9);
    expect(opens).toHaveLength(2);
    await advance(1);
    expect(opens.slice(2)).toEqual(['i']);
    await advance(2);
    add('j');
    await advance(0);
    expect(opens.slice(3)).toEqual(['j']);
  });

  it('delays a stream until its intent is stored', async () => {
    const latch = new Latch();
    openResult = () => latch.opened;
    const intent = add('a');
    await advance(2);
    expect(await isKept(intent)).toBe(false);
    latch.open();
    expect(await isKept(intent)).toBe(true);
    expect([vi.getTimerCount(), failures]).toEqual([0, []]);
  });

  it('delays a stream for half a second at most, and the next not at all until the store replies', async () => {
    const latch = new Latch();
    openResult = () => latch.opened;
    const first = add('a');
    await advance(499);
    expect(await isKept(first)).toBe(false);
    await advance(1);
    expect(await isKept(first)).toBe(true);
    expect(await isKept(add('b'))).toBe(true);
    latch.open();
    await advance(10);
    openResult = () => new Promise(() => undefined);
    expect(await isKept(add('c'))).toBe(false);
  });

  it('does not call the store unavailable because of a write that has failed long ago', async () => {
    openResult = AWAY;
    add('a');
    await advance(2);
    openResult = () => Promise.resolve();
    await intents.flush();
    await advance(1000);
    openResult = () => new Promise(() => undefined);
    expect(await isKept(add('b'))).toBe(false);
  });

  it('reports a failure to its owner once, and lets streams begin meanwhile', async () => {
    openResult = AWAY;
    const intent = add('a');
    await advance(2);
    expect(failures).toEqual([new Error('The database is away.')]);
    expect([await isKept(intent), await isKept(add('b'))]).toEqual([true, true]);
  });

  it('writes what failed again with each flush until it is stored, and only then', async () => {
    openResult = AWAY;
    add('a');
    await advance(2);
    await expect(intents.flush()).rejects.toThrow('away');
    openResult = () => Promise.resolve();
    await intents.flush();
    await intents.flush();
    expect([opens, closes]).toEqual([['a', 'a', 'a'], []]);
  });

  it('writes only the streams again that are still open', async () => {
    openResult = AWAY;
    const [first] = [add('a'), add('b')];
    await advance(2);
    first.settle();
    openResult = () => Promise.resolve();
    await intents.flush();
    expect(opens).toEqual(['a b', 'b']);
  });

  it('removes intents together when the last stream of each is over, and once', async () => {
    const added = [add('a'), add('b')];
    await advance(2);
    added[0]?.settle();
    await intents.flush();
    expect(closes).toEqual([]);
    added.push(add('c'));
    await advance(10);
    for (const intent of added.slice(1)) intent.settle();
    await intents.flush();
    await intents.flush();
    expect(closes).toEqual([2]);
  });

  it('neither writes nor removes an intent whose stream is over before, and continues with the others of its time', async () => {
    const alone = add('a');
    alone.settle();
    await advance(2);
    expect(await isKept(alone)).toBe(true);
    add('b').settle();
    const later = add('c');
    await advance(10);
    await intents.flush();
    expect([opens, closes]).toEqual([['c'], []]);
    later.settle();
    await intents.flush();
    expect(closes).toEqual([1]);
  });

  it('removes an intent of a stream that ended while it was written, when it is written', async () => {
    const latch = new Latch();
    openResult = () => latch.opened;
    const intent = add('a');
    await advance(2);
    intent.settle();
    await intents.flush();
    expect(closes).toEqual([]);
    latch.open();
    await advance(0);
    await intents.flush();
    expect(closes).toEqual([1]);
  });

  it('tries again later when the store refuses data, and is unavailable while each stream is written alone', async () => {
    const errors = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
    const usual = ({ streams }: IntentBatch) =>
      streams.some(({ id }) => id === 'bad') ? Promise.reject(new UnstorableData('A bad one.')) : Promise.resolve();
    openResult = (batch) => (batch.streams.length === 1 ? AWAY() : usual(batch));
    add('a');
    add('bad');
    await advance(2);
    expect([opens, failures]).toEqual([['a bad', 'a'], [new Error('The database is away.')]]);
    expect(errors).not.toHaveBeenCalled();
    openResult = usual;
    await intents.flush();
    expect(opens).toEqual(['a bad', 'a', 'a bad', 'a', 'bad']);
    expect(await isKept(add('c'))).toBe(false);
  });
});
