import { beforeAll, describe, expect, it } from 'vitest';
import { EmbeddedAvailability } from '../../../src/platform/database/database-availability.js';
import { RecentStreams, type StreamFilter } from '../../../src/usage/queries/recent-streams.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { testEngines } from '../../support/database.js';
import { ledgerSuite } from './ledger-suite.js';
import { over, TODAY } from './records.js';

const ALL = { from: new Date(TODAY), to: new Date(TODAY + 1_000) };
const NO_KEY = { keyId: undefined, keyPrefix: undefined };

describe.each(await testEngines())('the list of single streams on $name', (engine) => {
  const ledger = ledgerSuite(engine, 'once');
  let streams: RecentStreams;

  beforeAll(async () => {
    streams = new RecentStreams(ledger.source);
    const one = (requestId: string, ms: number, members: Parameters<typeof over>[0] = {}) =>
      over({ requestId, startedAt: TODAY + ms, ...members });
    await new UsageStore(ledger.source, new EmbeddedAvailability()).append([
      one('first', 0),
      one('same', 5),
      one('same', 5),
      one('same', 5, { model: 'acme/slow' }),
      one('session', 7, { credential: 'session', ...NO_KEY }),
      one('external', 9, { credential: 'external', ...NO_KEY }),
      one('later', 1_000),
      one('of-another', 5, { accountId: 'bob' }),
    ]);
  });

  const idsOf = async (filter: Partial<StreamFilter>) =>
    (await streams.list({ ...ALL, accountId: 'ada', ...filter }, 10)).rows.map(({ request_id: id }) => id);

  it('has each stream of the account in its period once, the latest first, on pages of any size', async () => {
    const expected = ['external', 'session', 'same', 'same', 'same', 'first'];
    for (const size of [1, 2, 3, 4, 6, 7]) {
      const pages: string[][] = [];
      let before: StreamFilter['before'];
      do {
        const page = await streams.list({ ...ALL, accountId: 'ada', before }, size);
        pages.push(page.rows.map(({ request_id: id }) => id));
        before = page.next;
      } while (before !== undefined && pages.length < 10);
      expect(pages.flat()).toEqual(expected);
      expect(pages).toHaveLength(Math.ceil(expected.length / size));
    }
  });

  it('adds up to 100 completions with one request id for a receipt, of one account', async () => {
    const { tokens } = (await streams.receipt('ada', 'first')) ?? {};
    expect(await streams.receipt('ada', 'first')).not.toHaveProperty('total');
    const { input = 0, output = 0 } = tokens ?? {};
    expect(await streams.receipt('ada', 'same')).toMatchObject({
      total: { completions: 3, tokens: { input: 3 * (input ?? 0), output: 3 * (output ?? 0) } },
    });
    const many = Array.from({ length: 101 }, () => over({ requestId: 'many', accountId: 'eve' }));
    await new UsageStore(ledger.source, new EmbeddedAvailability()).append(many);
    expect(await streams.receipt('eve', 'many')).not.toHaveProperty('total');
    expect(await streams.receipt('ada', 'none')).toBeUndefined();
  });

  it('is restricted by model, key and credential', async () => {
    expect(await idsOf({ model: 'acme/slow' })).toEqual(['same']);
    expect(await idsOf({ key: 'laptop' })).toEqual(['same', 'same', 'same', 'first']);
    expect(await idsOf({ key: 'session' })).toEqual(['session']);
    expect(await idsOf({ credential: 'external' })).toEqual(['external']);
  });
});
