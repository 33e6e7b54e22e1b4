import { SHARED_LIMITS } from '../../../support/shared-limits.js';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Principal } from '../../../../src/auth/principal/principal.js';
import type { ModelConfig } from '../../../../src/platform/config/config.js';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';
import { InterruptedStreams } from '../../../../src/usage/ledger/interrupted-streams.js';
import { RecordQueue, UsageLedger } from '../../../../src/usage/ledger/usage-ledger.js';
import { RecordWriter } from '../../../../src/usage/ledger/record-writer.js';
import type { UsageRecord } from '../../../../src/usage/record/usage-record.js';
import { UnstorableData } from '../../../../src/usage/store/ledger-text.js';
import { Latch } from '../../../support/latch.js';
import { collectLogLines, type LogLine } from './log-lines.js';
import { ScriptedStore } from './scripted-store.js';

const PRINCIPAL = { accountId: 'ada', tier: { name: 'free' }, credential: { kind: 'external', id: 'x' } } as Principal;

const MODEL = { id: 'acme/fast', contextLength: 1000 } as ModelConfig;

const NOW = Date.parse('2026-11-21T00:00:01Z');

const AWAY = () => Promise.reject(new Error('The database is away.'));

const REFUSE = () => Promise.reject(new UnstorableData('A bad one.'));

let log: LogLine[];

beforeEach(() => {
  log = collectLogLines();
});

const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('the ledger', () => {
  let store: ScriptedStore;
  let writer: RecordWriter;
  let interrupted: InterruptedStreams;
  let ledger: UsageLedger;

  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'performance'],
    });
    opened();
  });

  function opened(): void {
    store = new ScriptedStore();
    writer = new RecordWriter(store);
    interrupted = new InterruptedStreams(store, writer, SHARED_LIMITS);
    ledger = new UsageLedger(store, writer, interrupted, () => NOW);
  }

  const end = (requestId: string, usage: CallTrace['usage'] = {}): UsageRecord => {
    const trace = new CallTrace(requestId);
    trace.usage = usage;
    return ledger.begin(requestId, PRINCIPAL, MODEL).end(undefined, trace, 0);
  };
  const appends = () => store.takeCalls().filter((call) => call.startsWith('append'));

  it('begins a record with what is known of the stream', () => {
    const { started } = ledger.begin('r1', PRINCIPAL, MODEL);
    const { id, ...rest } = started;
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7/);
    expect(rest).toEqual({
      requestId: 'r1',
      accountId: 'ada',
      credential: 'external',
      keyId: undefined,
      keyPrefix: undefined,
      model: 'acme/fast',
      startedAt: NOW,
    });
  });

  it('writes the intent first, then the record, and removes the intent last', async () => {
    const entry = ledger.begin('r1', PRINCIPAL, MODEL);
    await advance(2);
    await entry.stored;
    expect(store.takeCalls()).toEqual(['open r1']);
    entry.end(undefined, new CallTrace('r1'), 0);
    expect(ledger.queued).toBe(1);
    await advance(4);
    expect(store.takeCalls()).toEqual([]);
    await advance(1);
    expect(store.takeCalls()).toEqual(['append r1', 'close 1']);
    expect([ledger.queued, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('writes records together that end within 5 ms, and the next 100 ms later', async () => {
    end('r1');
    expect((Reflect.get(ledger, 'timer') as NodeJS.Timeout).hasRef()).toBe(false);
    await advance(3);
    end('r2');
    await advance(2);
    expect(appends()).toEqual(['append r1 r2']);
    end('r3');
    await advance(99);
    expect(appends()).toEqual([]);
    await advance(1);
    expect(appends()).toEqual(['append r3']);
    await advance(98);
    end('r4');
    await advance(4);
    expect(appends()).toEqual([]);
    await advance(1);
    expect(appends()).toEqual(['append r4']);
  });

  it('writes a record in the same round that ends while others are written', async () => {
    const latch = new Latch();
    store.results.append = () => latch.opened;
    end('r1');
    await advance(5);
    end('r2');
    await advance(500);
    expect(appends()).toEqual(['append r1']);
    delete store.results.append;
    latch.open();
    await advance(0);
    expect(appends()).toEqual(['append r2']);
  });

  it('writes a record 100 ms after the round that ends while intents are removed', async () => {
    const latch = new Latch();
    store.results.close = () => latch.opened;
    const first = ledger.begin('r1', PRINCIPAL, MODEL);
    await advance(2);
    first.end(undefined, new CallTrace('r1'), 0);
    await advance(5);
    end('r2');
    await advance(500);
    latch.open();
    await advance(99);
    expect(appends()).toEqual(['append r1']);
    await advance(1);
    expect(appends()).toEqual(['append r2']);
  });

  it('removes intents again one second after the store has failed to, though no record waits', async () => {
    store.results.close = AWAY;
    const entry = ledger.begin('r1', PRINCIPAL, MODEL);
    await advance(2);
    entry.end(undefined, new CallTrace('r1'), 0);
    await advance(5);
    expect(store.takeCalls()).toEqual(['open r1', 'append r1', 'close 1']);
    delete store.results.close;
    await advance(999);
    expect(store.takeCalls()).toEqual([]);
    await advance(1);
    expect([store.takeCalls(), vi.getTimerCount()]).toEqual([['close 1'], 0]);
  });

  it('reports how many records became dead letters', async () => {
    store.results.append = REFUSE;
    end('r1');
    expect(ledger.deadLetter).toBe(0);
    await advance(5);
    expect([ledger.deadLetter, ledger.queued]).toEqual([1, 0]);
  });

  it('tries again one second after a failure, keeps the order, and logs an outage once', async () => {
    store.results.append = AWAY;
    end('r1');
    await advance(5);
    end('r2');
    expect([appends(), ledger.writeFailures]).toEqual([['append r1'], 1]);
    await advance(999);
    expect(appends()).toEqual([]);
    await advance(1);
    expect([appends(), ledger.writeFailures]).toEqual([['append r1 r2'], 2]);
    delete store.results.append;
    await advance(1000);
    expect([appends(), ledger.writeFailures, ledger.queued]).toEqual([['append r1 r2'], 2, 0]);
    expect(log).toEqual([
      {
        level: 'warn',
        line: {
          msg: expect.stringMatching(/records cannot be written/) as string,
          reason: 'Error: The database is away.',
        },
      },
      { level: 'log', line: expect.stringMatching(/records are written again/) as string },
    ]);
    await advance(10_000);
    expect([appends(), vi.getTimerCount()]).toEqual([[], 0]);
  });

  it('logs the first 200 characters of a failure', async () => {
    store.results.append = () => Promise.reject(new Error('x'.repeat(300)));
    end('r1');
    await advance(5);
    expect(log[0]?.line).toMatchObject({ reason: `Error: ${'x'.repeat(192)}…` });
  });

  it('writes the intents again one second after the store refused them, though no stream ends', async () => {
    store.results.open = AWAY;
    const entry = ledger.begin('r1', PRINCIPAL, MODEL);
    await advance(0);
    await entry.stored;
    expect(store.takeCalls()).toEqual(['open r1']);
    delete store.results.open;
    await advance(999);
    expect(store.takeCalls()).toEqual([]);
    await advance(1);
    expect(store.takeCalls()).toEqual(['open r1']);
  });

  it('tells all listeners of a record at once, and writes it', async () => {
    const [first, second]: [UsageRecord[], UsageRecord[]] = [[], []];
    ledger.listen((record) => first.push(record));
    ledger.listen((record) => second.push(record));
    const record = end('r1');
    expect([first, second]).toEqual([[record], [record]]);
    await advance(5);
    expect(store.records).toEqual([record]);
  });

  it.each([
    [{ inputTokens: -1, outputTokens: 2 }, '-1', undefined],
    [{ inputTokens: 1, outputTokens: Infinity }, undefined, 'Infinity'],
  ])('warns of the implausible tokens %j', (usage, inputTokens, outputTokens) => {
    end('r1', usage);
    expect(log).toEqual([
      {
        level: 'warn',
        line: {
          msg: 'An upstream reported an implausible number of tokens. The ledger uses an estimate instead',
          requestId: 'r1',
          model: 'acme/fast',
          upstream: undefined,
          inputTokens,
          outputTokens,
        },
      },
    ]);
  });

  it('warns of no plausible tokens', () => {
    end('r1', { inputTokens: 1, outputTokens: 2 });
    end('r2');
    expect(log).toEqual([]);
  });

  it('loses a record when the queue is full, counts it, and still removes its intent', async () => {
    const entry = ledger.begin('r1', PRINCIPAL, MODEL);
    await advance(2);
    const full = vi.spyOn(RecordQueue.prototype, 'add').mockReturnValue(false);
    entry.end(undefined, new CallTrace('r1'), 0);
    full.mockRestore();
    expect([ledger.queued, ledger.lost]).toEqual([0, 1]);
    await advance(5);
    expect(store.takeCalls()).toEqual(['open r1', 'close 1']);
  });

  describe('of a process that stops', () => {
    it('writes at once what waits, then leaves, and has no timer', async () => {
      end('r1');
      await ledger.beforeApplicationShutdown();
      expect(store.takeCalls()).toEqual(['append r1', 'leave']);
      await advance(10_000);
      expect([store.takeCalls(), log]).toEqual([[], []]);
    });

    it('waits for the round of writing that runs, then writes the remaining records, and leaves last', async () => {
      const latch = new Latch();
      store.results.append = () => latch.opened;
      end('r1');
      await advance(5);
      end('r2');
      const stopped = ledger.beforeApplicationShutdown();
      await advance(0);
      expect(appends()).toEqual(['append r1']);
      latch.open();
      await stopped;
      const calls = store.takeCalls();
      expect(calls.filter((call) => call.startsWith('append'))).toEqual(['append r2']);
      expect(calls.at(-1)).toBe('leave');
    });

    it('writes once when there is nothing to write', async () => {
      await ledger.beforeApplicationShutdown();
      expect(store.takeCalls()).toEqual(['leave']);
    });

    it('reports how many records it could not write after three tries, one second apart', async () => {
      store.results.append = AWAY;
      end('r1');
      end('r2');
      const stopped = ledger.beforeApplicationShutdown();
      await advance(999);
      expect(appends()).toEqual(['append r1 r2']);
      await advance(1000);
      expect(appends()).toEqual(['append r1 r2']);
      await advance(1000);
      await stopped;
      expect(store.takeCalls()).toEqual(['append r1 r2', 'leave']);
      expect(log.at(-1)).toEqual({ level: 'error', line: '2 usage records could not be written' });
    });

    it('tries three times to remove the intents, too', async () => {
      store.results.close = AWAY;
      const entry = ledger.begin('r1', PRINCIPAL, MODEL);
      await advance(2);
      entry.end(undefined, new CallTrace('r1'), 0);
      const stopped = ledger.beforeApplicationShutdown();
      await advance(2000);
      await stopped;
      expect(store.takeCalls()).toEqual(['open r1', 'append r1', 'close 1', 'close 1', 'close 1', 'leave']);
      expect(log.map(({ level }) => level)).toEqual(['warn']);
    });

    it('writes a record that ends while the intents are removed', async () => {
      const latch = new Latch();
      store.results.close = () => latch.opened;
      const first = ledger.begin('r1', PRINCIPAL, MODEL);
      await advance(2);
      await first.stored;
      first.end(undefined, new CallTrace('r1'), 0);
      const stopped = ledger.beforeApplicationShutdown();
      await advance(0);
      end('r2');
      latch.open();
      await advance(1000);
      await stopped;
      expect(appends()).toEqual(['append r1', 'append r2']);
      expect([ledger.queued, log]).toEqual([0, []]);
    });

    it('loses no record when the round that runs fails, and the store is slow then', async () => {
      const first = new Latch();
      store.results.append = async () => {
        await first.opened;
        throw new Error('The connection was cut.');
      };
      for (let count = 0; count < 120; count++) end(`r${count}`);
      await advance(5);
      const stopped = ledger.beforeApplicationShutdown();
      store.results.append = () => new Promise((resolve) => setTimeout(resolve, 1500));
      first.open();
      await advance(10_000);
      await stopped;

      expect(store.records.map(({ requestId }) => requestId)).toEqual(
        Array.from({ length: 120 }, (_, index) => `r${index}`),
      );
      expect(vi.getTimerCount()).toBe(0);
    });

    it('leaves also when the store cannot be notified', async () => {
      store.results.leave = AWAY;
      await expect(ledger.beforeApplicationShutdown()).resolves.toBeUndefined();
    });
  });
});
