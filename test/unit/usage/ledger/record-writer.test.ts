import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RecordQueue } from '../../../../src/usage/ledger/record-queue.js';
import { RecordWriter } from '../../../../src/usage/ledger/record-writer.js';
import type { UsageRecord } from '../../../../src/usage/record/usage-record.js';
import { UnstorableData } from '../../../../src/usage/store/unstorable-data.js';
import { UsageStore, type DeadLetter } from '../../../../src/usage/store/usage-store.js';
import { over } from '../../../contract/usage/records.js';

/** A store that refuses records of some ids, and is away at some of its calls. */
class PickyStore extends UsageStore {
  readonly kept: string[] = [];
  readonly aside: DeadLetter[] = [];
  private appends = 0;

  constructor(
    private readonly refused: ReadonlySet<string>,
    private readonly isUnavailable: (call: number) => boolean = () => false,
  ) {
    super();
  }

  override append(records: readonly UsageRecord[]): Promise<void> {
    if (this.isUnavailable(this.appends++)) return Promise.reject(new Error('The connection was cut.'));
    if (records.some(({ id }) => this.refused.has(id))) return Promise.reject(new UnstorableData('A bad one.'));
    this.kept.push(...records.map(({ id }) => id));
    return Promise.resolve();
  }

  override deadLetter(record: DeadLetter): Promise<void> {
    this.aside.push(record);
    return Promise.resolve();
  }

  open = () => Promise.resolve();
  close = () => Promise.resolve();
  beat = () => Promise.resolve();
  abandoned = () => Promise.resolve([]);
  leave = () => Promise.resolve();
}

describe('the writer of records', () => {
  beforeAll(() => {
    Logger.overrideLogger(false);
  });
  afterAll(() => {
    Logger.overrideLogger(['error', 'warn', 'log']);
  });

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
        expect(store.aside.map(({ id }) => id)).toEqual(bad);
        expect(writer.setAsideCount).toBe(bad.length);
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
    const texts = refuseAll.aside.map(({ record }) => record);
    expect(texts).toHaveLength(odd.length);
    expect(JSON.parse(texts[0] ?? '')).toMatchObject({ costMicros: 'NaN', startedAt: 'Infinity', keyId: '12' });
    expect(texts[1]).toContain('a\\u0000b\\ud800');
    expect(texts[2]).toContain('Circular');
    for (const text of texts) {
      expect(text).not.toMatch(/[\0\p{Cs}]/u);
      expect(text.length).toBeLessThan(20_000);
    }
    expect(refuseAll.aside.at(-1)).toMatchObject({
      id: expect.stringMatching(/^[\w-]{36}$/) as string,
      requestId: undefined,
    });
  });
});
