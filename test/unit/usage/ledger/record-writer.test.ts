import fc from 'fast-check';
import { describe, expect, it, beforeEach } from 'vitest';
import { RecordQueue } from '../../../../src/usage/ledger/usage-ledger.js';
import { RecordWriter, recoverableJson } from '../../../../src/usage/ledger/record-writer.js';
import type { UsageRecord } from '../../../../src/usage/record/usage-record.js';
import { UnstorableData } from '../../../../src/usage/store/ledger-text.js';
import { UsageStore, type DeadLetter } from '../../../../src/usage/store/usage-store.js';
import { over } from '../../../contract/usage/records.js';
import { Latch, isOver } from '../../../support/latch.js';
import { collectLogLines, type LogLine } from './log-lines.js';
import { ScriptedStore } from './scripted-store.js';

let log: LogLine[];

beforeEach(() => {
  log = collectLogLines();
});

/** A store that refuses records of some ids, and is away at some of its calls. */
class PickyStore extends UsageStore {
  readonly kept: string[] = [];
  readonly deadLetters: DeadLetter[] = [];
  private appends = 0;

  constructor(
    private readonly refused: ReadonlySet<string>,
    private readonly isUnavailable: (call: number) => boolean = () => false,
  ) {
    super({} as never, {} as never, {} as never);
  }

  override append(records: readonly UsageRecord[]): Promise<void> {
    if (this.isUnavailable(this.appends++)) return Promise.reject(new Error('The connection was cut.'));
    if (records.some(({ id }) => this.refused.has(id))) return Promise.reject(new UnstorableData('A bad one.'));
    this.kept.push(...records.map(({ id }) => id));
    return Promise.resolve();
  }

  override deadLetter(record: DeadLetter): Promise<void> {
    this.deadLetters.push(record);
    return Promise.resolve();
  }
}

describe('the writer of records', () => {
  const drained = async (store: UsageStore, records: readonly UsageRecord[]): Promise<RecordWriter> => {
    const [writer, queue] = [new RecordWriter(store), new RecordQueue<UsageRecord>()];
    for (const record of records) queue.add(record);
    while (queue.length > 0) await queue.drain((portion) => writer.writeSome(portion)).catch(() => undefined);
    return writer;
  };

  it('writes every good record once and in order, and every bad one as a dead letter once, whatever fails', async () => {
    const marks = fc.array(fc.boolean(), { maxLength: 130 });
    const outages = fc.infiniteStream(fc.integer({ min: 0, max: 3 }).map((number) => number === 0));
    await fc.assert(
      fc.asyncProperty(marks, outages, async (good, away) => {
        const records = good.map((_, index) => over({ id: `record-${index}` }));
        const bad = records.filter((_, index) => good[index] === false).map(({ id }) => id);
        const store = new PickyStore(new Set(bad), () => away.next().value === true);
        const writer = await drained(store, records);
        expect(store.kept).toEqual(records.map(({ id }) => id).filter((id) => !bad.includes(id)));
        expect(store.deadLetters.map(({ id }) => id)).toEqual(bad);
        expect(writer.deadLetterCount).toBe(bad.length);
      }),
    );
  });

  it('keeps of a record what no JSON can hold, so that it can be recovered', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const odd = [
      { costMicros: NaN, startedAt: Infinity, keyId: 12n },
      { accountId: 'a\0b\ud800', model: 'm'.repeat(1e6) },
      { attempts: [circular] },
      { id: undefined, requestId: {} },
    ] as unknown as Partial<UsageRecord>[];
    const refuseAll = new PickyStore(new Set());
    refuseAll.append = () => Promise.reject(new UnstorableData('A bad one.'));
    await drained(
      refuseAll,
      odd.map((parts) => ({ ...over({ id: 'odd' }), ...parts })),
    );
    const texts = refuseAll.deadLetters.map(({ record }) => record);
    expect(texts).toHaveLength(odd.length);
    expect(JSON.parse(texts[0] ?? '')).toMatchObject({ costMicros: 'NaN', startedAt: 'Infinity', keyId: '12' });
    expect(texts[1]).toContain('a\\u0000b\\ud800');
    expect(texts[2]).toContain('Circular');
    for (const text of texts) {
      expect(text).not.toMatch(/[\0\p{Cs}]/u);
      expect(text.length).toBeLessThan(20_000);
    }
    expect(refuseAll.deadLetters.at(-1)).toMatchObject({
      id: expect.stringMatching(/^[\w-]{36}$/) as string,
      requestId: undefined,
    });
  });
});

const AWAY = () => Promise.reject(new Error('The database is away.'));

const REFUSE = () => Promise.reject(new UnstorableData('A bad one.'));

describe('the writer of records that are refused', () => {
  const recordOf = (requestId: string) => ({ id: `id ${requestId}`, requestId }) as UsageRecord;
  const records = ['a', 'b', 'c', 'd', 'e'].map(recordOf);

  it('halves what the store refuses until a part is written', async () => {
    const store = new ScriptedStore();
    const refusals = [REFUSE, REFUSE];
    store.results.append = () => refusals.shift()?.() ?? Promise.resolve();
    await expect(new RecordWriter(store).writeSome(records)).resolves.toBe(2);
    expect(store.calls).toEqual(['append a b c d e', 'append a b c', 'append a b']);
  });

  it('is done only when the dead letter is written', async () => {
    const store = new ScriptedStore();
    const latch = new Latch();
    store.results.append = REFUSE;
    store.results.deadLetter = () => latch.opened;
    const writing = new RecordWriter(store).writeSome(records);
    expect(await isOver(writing)).toBe(false);
    latch.open();
    await expect(writing).resolves.toBe(1);
  });

  it('makes the first record a dead letter when it is refused alone, and says so', async () => {
    const store = new ScriptedStore();
    store.results.append = REFUSE;
    const writer = new RecordWriter(store);
    await expect(writer.writeSome(records.slice(0, 2))).resolves.toBe(1);
    expect(store.calls).toEqual(['append a b', 'append a', 'deadLetter a']);
    expect(store.deadLetters).toEqual([
      { id: 'id a', requestId: 'a', reason: 'A bad one.', record: '{"id":"id a","requestId":"a"}' },
    ]);
    expect(writer.deadLetterCount).toBe(1);
    expect(log).toEqual([
      {
        level: 'error',
        line: {
          msg: 'A usage record became a dead letter: the store refuses its data',
          requestId: 'a',
          recordId: 'id a',
          reason: 'A bad one.',
        },
      },
    ]);
  });

  it('logs the whole record when the store fails', async () => {
    const store = new ScriptedStore();
    store.results.append = REFUSE;
    store.results.deadLetter = AWAY;
    await expect(new RecordWriter(store).writeSome(records.slice(0, 1))).resolves.toBe(1);
    expect(log.map(({ line }) => line)).toEqual([
      expect.objectContaining({ requestId: 'a', record: '{"id":"id a","requestId":"a"}' }),
    ]);
  });

  it('ends without records, even when the store refuses that', async () => {
    const store = new ScriptedStore();
    store.results.append = REFUSE;
    await expect(new RecordWriter(store).writeSome([])).resolves.toBe(0);
    expect([store.calls, store.deadLetters]).toEqual([['append'], []]);
  });
});

describe('a record as a text that can be recovered', () => {
  it('is its JSON, with the values that JSON does not support as texts', () => {
    expect(recoverableJson({ a: 7n, b: NaN, c: -Infinity, d: 1.5, e: null, f: [true, 'x'], g: undefined })).toBe(
      '{"a":"7","b":"NaN","c":"-Infinity","d":1.5,"e":null,"f":[true,"x"]}',
    );
  });

  it('has texts of up to 1,000 characters', () => {
    const [whole, long] = ['x'.repeat(1000), 'x'.repeat(1001)];
    expect(recoverableJson({ whole, long })).toBe(`{"whole":"${whole}","long":"${whole}…"}`);
  });

  it('has up to 100,000 characters', () => {
    const many = { texts: Array.from({ length: 200 }, () => 'x'.repeat(1000)) };
    expect(recoverableJson(many)).toHaveLength(100_000);
    const circular: Record<string, unknown> = Object.fromEntries(many.texts.entries());
    circular['self'] = circular;
    expect(recoverableJson(circular)).toHaveLength(100_000);
  });

  it('is readable for a person where JSON is impossible', () => {
    const circular: Record<string, unknown> = { text: 'x'.repeat(1001) };
    circular['self'] = circular;
    const text = recoverableJson(circular);
    expect(text).toContain('[Circular *1]');
    expect(text).toContain(`'${'x'.repeat(1000)}'... 1 more character`);
  });
});
