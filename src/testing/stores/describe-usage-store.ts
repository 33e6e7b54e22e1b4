import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UnstorableData } from '../../usage/store/unstorable-data.js';
import type { IntentBatch, UsageStore } from '../../usage/store/usage-store.js';
import type { UsageRecord } from '../../usage/record/usage-record.js';
import { interruptedRecord, testBegunStream, testUsageRecord } from './usage-records.js';

/**
 * What a test reads back of a stored record.
 *
 * @since 1.0
 */
export type StoredUsage = Pick<UsageRecord, 'id' | 'accountId' | 'model' | 'outcome' | 'costMicros'>;

/**
 * An empty ledger, and the stores that use it.
 *
 * @since 1.0
 */
export interface OpenedUsageStore {
  /** The store of one replica. */
  readonly store: UsageStore;
  /** Returns the store of another replica on the same ledger. */
  another(): UsageStore | Promise<UsageStore>;
  /** Returns the stored records, in any order. */
  records(): Promise<readonly StoredUsage[]>;
  /** Removes the ledger. */
  close?(): Promise<void>;
}

/**
 * A kind of usage store.
 *
 * @since 1.0
 */
export interface UsageStoreContract {
  /** For the names of the tests, such as `in our warehouse`. */
  readonly name: string;
  /** Opens an empty ledger. */
  open(): OpenedUsageStore | Promise<OpenedUsageStore>;
}

/**
 * Describes the tests that every `UsageStore` must pass. Call this function in a test file of vitest.
 *
 * @experimental
 * @since 1.0
 *
 * @example
 * ```ts
 * describeUsageStore({ name: 'in our warehouse', open: () => openWarehouse() });
 * ```
 */
export function describeUsageStore({ name, open }: UsageStoreContract): void {
  describe(`the usage store ${name}`, () => {
    let opened: OpenedUsageStore;
    let store: UsageStore;

    beforeEach(async () => {
      opened = await open();
      ({ store } = opened);
      await store.beat();
    });
    afterEach(() => opened.close?.());

    const outcomes = async () => (await opened.records()).map(({ id, outcome }) => ({ id, outcome }));
    const batch = (): IntentBatch => ({ id: randomUUID(), streams: [testBegunStream(), testBegunStream()] });
    const another = async () => {
      const other = await opened.another();
      await other.beat();
      return other;
    };

    it('keeps a record once, however often it is appended', async () => {
      const records = [testUsageRecord(), testUsageRecord(), testUsageRecord()];
      await store.append(records);
      await store.append(records);
      await store.append([...records, testUsageRecord()]);
      expect(await outcomes()).toHaveLength(4);
    });

    it('takes many records at once, and one record', async () => {
      await store.append(Array.from({ length: 50 }, () => testUsageRecord()));
      await store.append([testUsageRecord()]);
      expect(await outcomes()).toHaveLength(51);
    });

    it('keeps what a record says', async () => {
      const record = testUsageRecord({ accountId: 'bob', model: 'acme/slow', outcome: 'client_gone', costMicros: 7 });
      await store.append([record]);
      const [stored] = await opened.records();
      const { id, accountId, model, outcome, costMicros } = record;
      expect(stored).toMatchObject({ id, accountId, model, outcome, costMicros });
    });

    it('keeps an unknown cost apart from a cost of 0', async () => {
      const [unknown, free] = [testUsageRecord({ costMicros: undefined }), testUsageRecord({ costMicros: 0 })];
      await store.append([unknown, free]);
      const costs = new Map((await opened.records()).map(({ id, costMicros }) => [id, costMicros]));
      expect(costs.get(unknown.id)).toBeUndefined();
      expect(costs.get(free.id)).toBe(0);
    });

    it('stores the records of concurrent calls', async () => {
      const other = await another();
      const calls = Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? store : other).append([testUsageRecord(), testUsageRecord()]),
      );
      await Promise.all(calls);
      expect(await outcomes()).toHaveLength(40);
    });

    it.each([
      ['a text with a null character', { requestId: 'a\0b' }],
      ['half a character', { model: '\ud800' }],
      ['a date that is none', { startedAt: NaN }],
    ])('stores all of the records or none, and says so: %s', async (_, odd) => {
      const records = [testUsageRecord(), testUsageRecord(odd)];
      const error = await store.append(records).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error !== undefined) expect(error).toBeInstanceOf(UnstorableData);
      expect(await outcomes()).toHaveLength(error === undefined ? 2 : 0);
      // The store works on.
      await store.append([testUsageRecord()]);
      expect(await outcomes()).toHaveLength(error === undefined ? 3 : 1);
    });

    it('corrects an interrupted stream once, and nothing else', async () => {
      const stream = testBegunStream();
      await store.append([interruptedRecord(stream)]);
      expect(await outcomes()).toEqual([{ id: stream.id, outcome: 'interrupted' }]);
      await store.append([testUsageRecord({ ...stream, outcome: 'completed' })]);
      await store.append([interruptedRecord(stream)]);
      await store.append([testUsageRecord({ ...stream, outcome: 'client_gone' })]);
      expect(await outcomes()).toEqual([{ id: stream.id, outcome: 'completed' }]);
    });

    it('hands over no intents of its own', async () => {
      await store.open(batch());
      expect(await store.abandoned()).toEqual([]);
    });

    it('hands over the intents of a replica that has left, until they are closed', async () => {
      const other = await another();
      const [left, closed] = [batch(), batch()];
      await other.open(left);
      await other.open(left);
      await other.open(closed);
      await other.close([closed.id]);
      await other.leave();
      expect(await store.abandoned()).toEqual([left]);
      await store.close([left.id]);
      await store.close([left.id, randomUUID()]);
      expect(await store.abandoned()).toEqual([]);
    });
  });
}
