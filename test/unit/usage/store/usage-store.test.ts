import type { DataSource } from 'typeorm';
import { describe, expect, it, vi } from 'vitest';
import {
  EmbeddedAvailability,
  type DatabaseAvailability,
} from '../../../../src/platform/database/database-availability.js';
import { UsageStore } from '../../../../src/usage/store/usage-store.js';
import { RECORD_COLUMNS } from '../../../../src/usage/store/record-columns.js';
import { UnstorableData } from '../../../../src/usage/store/ledger-text.js';
import { started, over } from '../../../contract/usage/records.js';
import { Latch, isOver } from '../../../support/latch.js';

describe('the store in the database', () => {
  const raceLost = () => Object.assign(new Error('deadlock'), { code: '40P01' });
  function storeOn(query: (statement: string, values?: unknown[]) => Promise<unknown>) {
    const database = { options: { type: 'postgres' }, query };
    return new UsageStore(database as unknown as DataSource, new EmbeddedAvailability());
  }

  it.each([
    [1, 2, true],
    [4, 5, true],
    [5, 5, false],
    [9, 5, false],
  ])('after %i lost races has tried %i times', async (races, tries, isStored) => {
    let calls = 0;
    const store = storeOn(() => (++calls > races ? Promise.resolve([]) : Promise.reject(raceLost())));
    const failure = await store.append([over()]).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect({ calls, isStored: failure === undefined }).toEqual({ calls: tries, isStored });
    expect(failure).not.toBeInstanceOf(UnstorableData);
  });

  const id = 'batch';
  it.each([
    ['append', (store: UsageStore) => store.append([over()])],
    ['open', (store: UsageStore) => store.open({ id, streams: [started()] })],
    ['close', (store: UsageStore) => store.close([id])],
    ['deadLetter', (store: UsageStore) => store.deadLetter({ id, requestId: undefined, reason: '', record: '{}' })],
    ['beat', (store: UsageStore) => store.beat()],
    ['leave', (store: UsageStore) => store.leave()],
  ])('is done with "%s" only when the database has answered', async (_, act) => {
    const latch = new Latch();
    const acting = act(storeOn(() => latch.opened.then(() => [])));
    expect(await isOver(acting)).toBe(false);
    latch.open();
    await acting;
  });

  it.each([
    [undefined, false],
    [false, false],
    [true, true],
  ])('checks for all lost connections when that is urgent: %s', async (isUrgent, checksAll) => {
    const availability = { isUnavailable: false, lock: { key: 1, heldSince: -Infinity }, whenLocked: () => undefined };
    const query = vi.fn<(statement: string) => Promise<[]>>(() => Promise.resolve([]));
    const database = { options: { type: 'postgres' }, query } as unknown as DataSource;
    await new UsageStore(database, availability as unknown as DatabaseAvailability).abandoned(isUrgent);
    const lookups = query.mock.calls.filter(([statement]) => statement.includes('lock_key IS NOT NULL'));
    expect(lookups.map(([statement]) => !statement.includes('seen_at <'))).toEqual([checksAll]);
  });

  it('tries a statement once that fails because of an outage, and passes the error on', async () => {
    const away = new Error('The connection was cut.');
    const query = vi.fn(() => Promise.reject(away));
    await expect(storeOn(query).append([over()])).rejects.toBe(away);
    expect(query).toHaveBeenCalledTimes(1);
  });

  it('says briefly why the database refuses a record', async () => {
    const cause = Object.assign(new Error('x'.repeat(300)), { code: '22003' });
    const refused = storeOn(() => Promise.reject(cause)).append([over()]);
    await expect(refused).rejects.toMatchObject({
      name: 'UnstorableData',
      message: `22003 ${'x'.repeat(194)}`,
      cause,
    });
  });

  it('writes records in the order of their ids, so that two replicas cannot wait for each other', async () => {
    const written: unknown[][] = [];
    const store = storeOn((_, values = []) => Promise.resolve(void written.push(values)));
    await store.append(['c', 'a', 'd', 'b'].map((id) => over({ id })));
    const ids = written[0]?.filter((_, at) => at % RECORD_COLUMNS.length === 0);
    expect(ids).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each([
    [undefined, null],
    ['r\0', 'r\ufffd'],
  ])('writes a dead letter with the request id %j, and the record as it is', async (requestId, stored) => {
    const written: unknown[][] = [];
    const store = storeOn((statement, values = []) => Promise.resolve(void written.push([statement, ...values])));
    await store.deadLetter({ id: 'a\0', requestId, reason: 'b\0', record: '{"c":1}' });
    expect(written).toEqual([
      [
        'INSERT INTO usage_dead_letters (id, request_id, set_aside_at, reason, record) VALUES ($1,$2,$3,$4,$5) ON CONFLICT (id) DO NOTHING',
        'a\ufffd',
        stored,
        expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        'b\ufffd',
        '{"c":1}',
      ],
    ]);
  });

  it('reports that a dead letter could not be written', async () => {
    const store = storeOn(() => Promise.reject(new Error('away')));
    await expect(store.deadLetter({ id: 'a', requestId: undefined, reason: 'b', record: '{}' })).rejects.toThrow(
      'away',
    );
  });

  it('counts a process that belongs to another user as a living one', async () => {
    const kill = vi.spyOn(process, 'kill');
    const refused: string[] = [];
    for (const code of ['EPERM', 'ESRCH']) {
      kill.mockImplementationOnce(() => {
        throw Object.assign(new Error(code), { code });
      });
      const store = storeOn((statement, values = []) => {
        if (statement.includes('WHERE id IN')) refused.push(`${code} ${values.join()}`);
        return Promise.resolve(statement.startsWith('SELECT id, pid') ? [{ id: 'other', pid: 77 }] : []);
      });
      await store.abandoned();
    }
    expect(refused).toEqual(['ESRCH other']);
    expect(kill.mock.calls).toEqual([
      [77, 0],
      [77, 0],
    ]);
    kill.mockRestore();
  });
});
