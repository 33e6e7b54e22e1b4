import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RecordQueue } from '../../../../src/usage/ledger/usage-ledger.js';
import { RecordWriter, recoverableJson } from '../../../../src/usage/ledger/record-writer.js';
import type { UsageRecord } from '../../../../src/usage/record/usage-record.js';
import { UnstorableData } from '../../../../src/usage/store/ledger-text.js';
import { UsageStore, type DeadLetter } from '../../../../src/usage/store/usage-store.js';
import { over } from '../../../contract/usage/records.js';

beforeEach(() => {
  vi.spyOn(Logger.prototype, 'error').mockReturnValue();
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

  /** Takes a moment, so that a writer that does not wait is noticed. */
  override async deadLetter(record: DeadLetter): Promise<void> {
    await new Promise(setImmediate);
    this.deadLetters.push(record);
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
