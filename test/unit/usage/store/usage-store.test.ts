import type { DataSource } from 'typeorm';
import { describe, expect, it, vi } from 'vitest';
import { EmbeddedAvailability } from '../../../../src/platform/database/database-availability.js';
import { UsageStore } from '../../../../src/usage/store/usage-store.js';
import { RECORD_COLUMNS } from '../../../../src/usage/store/record-columns.js';
import { UnstorableData } from '../../../../src/usage/store/ledger-text.js';
import { over } from '../../../contract/usage/records.js';

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
