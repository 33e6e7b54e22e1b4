import { describe, expect, it } from 'vitest';
import { BatchLoader } from '../../../../../src/platform/common/concurrency/batch-loader.js';
import { Latch } from '../../../../support/latch.js';

describe('a batch loader', () => {
  const limits = { concurrentBatches: 1, keysPerBatch: 2, maxWaiters: 3 };

  it('fails the waiters behind a batch that fails, and loads later keys', async () => {
    const batches: (readonly string[])[] = [];
    const fails = new Latch();
    const loader = new BatchLoader<string>(async (keys) => {
      batches.push(keys);
      await fails.opened;
      if (batches.length === 1) throw new Error('The database is unavailable.');
      return new Map(keys.map((key) => [key, `row ${key}`]));
    }, limits);
    const loads = ['1', '2', '3', '4'].map((key) => loader.load(key));
    expect(loader.isFull).toBe(true);

    fails.open();

    const outcomes = await Promise.allSettled(loads);
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    expect(loader.isFull).toBe(false);
    await expect(loader.load('5')).resolves.toBe('row 5');
    expect(batches).toEqual([['1'], ['5']]);
  });

  it('loads waiting keys together, in batches of a bounded size, and as many batches as allowed at a time', async () => {
    const batches: (readonly string[])[] = [];
    const latches = Array.from({ length: 4 }, () => new Latch());
    const loader = new BatchLoader<string>(
      async (keys) => {
        await latches[batches.push(keys) - 1]?.opened;
        return new Map(keys.filter((key) => key !== '4').map((key) => [key, `row ${key}`]));
      },
      { ...limits, concurrentBatches: 2, maxWaiters: 10 },
    );
    const loads = ['1', '2', '3', '4', '5'].map((key) => loader.load(key));
    expect(batches).toEqual([['1'], ['2']]);
    latches[1]?.open();
    await loads[1];
    await new Promise(setImmediate);
    expect(batches).toEqual([['1'], ['2'], ['3', '4']]);

    for (const { open } of latches) open();

    expect(await Promise.all(loads)).toEqual(['row 1', 'row 2', 'row 3', undefined, 'row 5']);
    expect(batches[3]).toEqual(['5']);
  });
});
