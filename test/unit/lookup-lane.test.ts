import { describe, expect, it } from 'vitest';
import { LookupLane } from '../../src/accounts/credentials/lookup-lane.js';
import { Gate } from '../support/gate.js';

describe('a lane of lookups', () => {
  const limits = { queriesAtOnce: 1, idsPerQuery: 2, idsWaiting: 3 };

  it('fails what waits behind a query that fails, and goes on with what comes later', async () => {
    const queries: (readonly string[])[] = [];
    const fails = new Gate();
    const lane = new LookupLane<string>(async (ids) => {
      queries.push(ids);
      await fails.opened;
      if (queries.length === 1) throw new Error('The database is unavailable.');
      return new Map(ids.map((id) => [id, `row ${id}`]));
    }, limits);
    const asked = ['1', '2', '3', '4'].map((id) => lane.ask(id));
    expect(lane.isFull).toBe(true);

    fails.open();

    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
    expect(lane.isFull).toBe(false);
    await expect(lane.ask('5')).resolves.toBe('row 5');
    expect(queries).toEqual([['1'], ['5']]);
  });
});
