import { describe, expect, it } from 'vitest';
import { OpeningJournal } from '../../src/usage/opening-journal.js';
import type { BegunStream } from '../../src/usage/usage-record.js';
import type { OpeningBatch, UsageStore } from '../../src/usage/usage-store.js';

const begun: BegunStream = {
  id: 'stream-1',
  requestId: 'request-1',
  accountId: 'account-1',
  credential: 'session',
  keyId: undefined,
  keyPrefix: undefined,
  model: 'acme/fast',
  startedAt: 0,
};

describe('a journal of openings', () => {
  it('keeps nobody waiting for a stream whose record is kept before its opening could be written', async () => {
    const written: OpeningBatch[] = [];
    const store = { open: (batch: OpeningBatch) => Promise.resolve(void written.push(batch)) };
    const opening = new OpeningJournal(store as unknown as UsageStore, () => undefined).add(begun);

    opening.settle();
    await opening.kept;

    expect(written).toEqual([]);
  });

  it('keeps nobody waiting once the store has failed', async () => {
    const store = { open: () => Promise.reject(new Error('away')) };
    let failures = 0;
    const journal = new OpeningJournal(store as unknown as UsageStore, () => failures++);

    await journal.add(begun).kept;

    await expect.poll(() => failures).toBe(1);
  });
});
