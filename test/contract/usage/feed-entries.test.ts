import { beforeEach, describe, expect, it } from 'vitest';
import { FeedEntries } from '../../../src/usage/feeds/feed-entries.js';
import { testEngines } from '../../support/database.js';
import { ledgerSuite } from './ledger-suite.js';
import { over } from './records.js';

const DAY_MS = 86_400_000;

describe.each(await testEngines())('the entries of usage feeds on $name', (engine) => {
  const ledger = ledgerSuite(engine);
  let entries: FeedEntries;

  beforeEach(async () => {
    entries = new FeedEntries(ledger.source);
    for (const feed of ['billing', 'archive']) await entries.register(feed, 0);
  });
  const waiting = async (feed: string) => (await entries.next(feed)).map(({ recordId }) => recordId);

  it('belong to one process, until its time is over or it releases the feed', async () => {
    expect(await entries.own('billing', 'first', 1_000, 61_000)).toBe(true);
    expect(await entries.own('billing', 'second', 61_000, 99_000)).toBe(false);
    await entries.release('billing', 'second');
    expect(await entries.own('billing', 'second', 61_000, 99_000)).toBe(false);
    expect(await entries.own('archive', 'second', 61_000, 99_000)).toBe(true);
    expect(await entries.own('billing', 'first', 61_000, 121_000)).toBe(true);

    expect(await entries.own('billing', 'second', 121_001, 181_000)).toBe(true);
    expect(await entries.own('billing', 'first', 121_001, 181_000)).toBe(false);
    await entries.release('billing', 'second');
    expect(await entries.own('billing', 'first', 121_002, 181_000)).toBe(true);
  });

  it('are removed from the feed that has delivered them, unless their record has changed meanwhile', async () => {
    await ledger.store.append([over({ id: 'record-1' }), over({ id: 'record-2' })]);
    const read = await entries.next('billing');
    await ledger.source.query("UPDATE usage_records SET outcome = 'failed' WHERE id = 'record-2'");

    await entries.remove('billing', read);

    expect(await waiting('billing')).toEqual(['record-2']);
    expect(await waiting('archive')).toEqual(['record-1', 'record-2']);
    await entries.remove('billing', await entries.next('billing'));
    expect(await waiting('billing')).toEqual([]);
  });

  it('go with a feed that no process has had for a time', async () => {
    await ledger.store.append([over({ id: 'record-1' })]);
    await entries.own('billing', 'first', 2 * DAY_MS, 2 * DAY_MS);
    await entries.removeUnseen(DAY_MS);
    expect([await waiting('billing'), await waiting('archive')]).toEqual([['record-1'], []]);
    expect(await entries.own('archive', 'first', 2 * DAY_MS, 2 * DAY_MS)).toBe(false);
  });
});
