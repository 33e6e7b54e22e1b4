import { afterEach, describe, expect, it, vi } from 'vitest';
import { OpeningJournal } from '../../src/usage/ledger/opening-journal.js';
import type { BegunStream } from '../../src/usage/record/usage-record.js';
import { UnstorableData } from '../../src/usage/store/unstorable-data.js';
import type { OpeningBatch, UsageStore } from '../../src/usage/store/usage-store.js';
import { Gate } from '../support/gate.js';
import { waitFor } from '../support/wait-for.js';

/** Half of it is less than a stream waits for the store, all of it is more. */
const LONG_MS = 600;

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
  afterEach(() => {
    vi.useRealTimers();
  });

  it('keeps nobody waiting for a stream whose record is kept before its opening could be written', async () => {
    const written: OpeningBatch[] = [];
    const store = { open: (batch: OpeningBatch) => Promise.resolve(void written.push(batch)) };
    const opening = new OpeningJournal(store as unknown as UsageStore, () => undefined).add(begun);

    opening.settle();
    await opening.kept;

    expect(written).toEqual([]);
  });

  it('keeps nobody waiting once the store has failed', async () => {
    const store = { open: () => Promise.reject(new Error('unavailable')) };
    let failures = 0;
    const journal = new OpeningJournal(store as unknown as UsageStore, () => failures++);

    await journal.add(begun).kept;

    await expect.poll(() => failures).toBe(1);
  });

  it('keeps the next stream waiting for its opening, however long ago the last one was written', async () => {
    vi.useFakeTimers();
    const writes: Gate[] = [];
    const store = {
      open: () => {
        const gate = new Gate();
        writes.push(gate);
        return gate.opened;
      },
    };
    const journal = new OpeningJournal(store as unknown as UsageStore, () => undefined);
    const first = journal.add({ ...begun, id: '1' });
    await vi.advanceTimersByTimeAsync(LONG_MS / 2);
    writes[0]?.open();
    await first.kept;
    await vi.advanceTimersByTimeAsync(LONG_MS);

    let isKept = false;
    void journal.add({ ...begun, id: '2' }).kept.then(() => (isKept = true));
    await vi.advanceTimersByTimeAsync(LONG_MS / 2);

    expect({ writes: writes.length, isKept }).toEqual({ writes: 2, isKept: false });
    writes[1]?.open();
    await vi.advanceTimersByTimeAsync(0);
    expect({ isKept, timers: vi.getTimerCount() }).toEqual({ isKept: true, timers: 0 });
  });

  it('keeps nobody waiting for a store that is silent, until the store has answered again', async () => {
    vi.useFakeTimers();
    const gate = new Gate();
    const store = { open: () => gate.opened };
    const journal = new OpeningJournal(store as unknown as UsageStore, () => undefined);
    const first = journal.add({ ...begun, id: '1' });
    await vi.advanceTimersByTimeAsync(2 * LONG_MS);
    await first.kept;
    await journal.add({ ...begun, id: '2' }).kept;

    gate.open();
    await vi.advanceTimersByTimeAsync(LONG_MS);
    store.open = () => new Promise(() => undefined);
    let isKept = false;
    void journal.add({ ...begun, id: '3' }).kept.then(() => (isKept = true));
    await vi.advanceTimersByTimeAsync(LONG_MS / 2);

    expect(isKept).toBe(false);
  });

  it('forgets what ended while it was written', async () => {
    const gate = new Gate();
    const opened: string[] = [];
    const closed: string[] = [];
    const store = {
      open: ({ id }: OpeningBatch) => {
        opened.push(id);
        return gate.opened;
      },
      close: (ids: readonly string[]) => Promise.resolve(void closed.push(...ids)),
    };
    const journal = new OpeningJournal(store as unknown as UsageStore, () => undefined);
    const opening = journal.add(begun);
    await waitFor(() => opened.length === 1, 'the opening to be written');

    opening.settle();
    gate.open();
    await opening.kept;
    await journal.flush();

    expect(closed).toEqual(opened);
  });

  it('writes streams alone where the store refuses the data of one, and goes on with the next', async () => {
    const written: (readonly string[])[] = [];
    const closed: string[] = [];
    const store = {
      open: ({ streams }: OpeningBatch) => {
        const requests = streams.map(({ requestId }) => requestId);
        if (requests.includes('bad')) return Promise.reject(new UnstorableData('A bad one.'));
        return Promise.resolve(void written.push(requests));
      },
      close: (ids: readonly string[]) => Promise.resolve(void closed.push(...ids)),
    };
    let failures = 0;
    const journal = new OpeningJournal(store as unknown as UsageStore, () => failures++);
    const add = (id: string, requestId: string) => journal.add({ ...begun, id, requestId });

    const openings = [add('1', 'good'), add('2', 'bad'), add('3', 'fine')];
    await Promise.all(openings.map(({ kept }) => kept));
    openings.push(add('4', 'later'));
    await openings[3]?.kept;
    for (const opening of openings) opening.settle();
    await journal.flush();

    expect(written).toEqual([['good'], ['fine'], ['later']]);
    expect(closed).toHaveLength(3);
    expect(failures).toBe(0);
  });
});
