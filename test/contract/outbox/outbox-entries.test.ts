import { beforeEach, describe, expect, it } from 'vitest';
import { AtomicStatements } from '../../../src/platform/database/queries/atomic-statements.js';
import { OutboxEntries, type DeliveredTable } from '../../../src/platform/outbox/outbox-entries.js';
import { testEngines } from '../../support/database.js';
import { ledgerSuite } from '../usage/ledger-suite.js';
import { over } from '../usage/records.js';

const DAY_MS = 86_400_000;

const table = (name: DeliveredTable<unknown>['name'], isFromBeginning: boolean): DeliveredTable<unknown> => ({
  name,
  columns: ['id'],
  subscribers: { kind: 'subscriber', names: /./, rule: 'a name' },
  rowsAtOnce: 100,
  isFromBeginning,
  rowsOf: (rows) => rows,
});
const RECORDS = table('usage_records', false);
const AUDIT_LOG = table('audit_entries', true);

describe.each(await testEngines())('the outbox on $name', (engine) => {
  const ledger = ledgerSuite(engine);
  let entries: OutboxEntries;

  beforeEach(async () => {
    entries = new OutboxEntries(ledger.source, new AtomicStatements(ledger.source));
    for (const name of ['billing', 'archive']) await entries.register(RECORDS, name, 0);
  });
  const waiting = async (of: DeliveredTable<unknown>, name: string) =>
    (await entries.next(of, name)).map(({ rowId }) => rowId);
  const own = (name: string, process: string, now: number, until: number) =>
    entries.own(RECORDS, name, process, now, until);
  const audit = (id: string, at: string) =>
    ledger.source.query(
      `INSERT INTO audit_entries (id, at, actor, action, target) VALUES ('${id}', '${at}', 'service', 'a', 'b')`,
    );

  it('delivers to a subscriber from one process, until its time is over or it releases the subscriber', async () => {
    expect(await own('billing', 'first', 1_000, 61_000)).toBe(true);
    expect(await own('billing', 'second', 61_000, 99_000)).toBe(false);
    await entries.release(RECORDS, 'billing', 'second');
    expect(await own('billing', 'second', 61_000, 99_000)).toBe(false);
    expect(await own('archive', 'second', 61_000, 99_000)).toBe(true);
    expect(await own('billing', 'first', 61_000, 121_000)).toBe(true);

    expect(await own('billing', 'second', 121_001, 181_000)).toBe(true);
    expect(await own('billing', 'first', 121_001, 181_000)).toBe(false);
    await entries.release(RECORDS, 'billing', 'second');
    expect(await own('billing', 'first', 121_002, 181_000)).toBe(true);
  });

  it('keeps an entry until its subscriber has got the row as it is', async () => {
    await ledger.store.append([over({ id: 'record-1' }), over({ id: 'record-2' })]);
    const read = await entries.next(RECORDS, 'billing');
    await ledger.source.query("UPDATE usage_records SET outcome = 'failed' WHERE id = 'record-2'");

    await entries.remove(RECORDS, 'billing', read);

    expect(await waiting(RECORDS, 'billing')).toEqual(['record-2']);
    expect(await waiting(RECORDS, 'archive')).toEqual(['record-1', 'record-2']);
    await entries.remove(RECORDS, 'billing', await entries.next(RECORDS, 'billing'));
    expect(await waiting(RECORDS, 'billing')).toEqual([]);
  });

  it('has rows of before a new subscriber where it wants them, the oldest first, once', async () => {
    await audit('b', '2026-11-27T00:00:01.000Z');
    await audit('c', '2026-11-27T00:00:00.000Z');
    for (const now of [0, 1]) await entries.register(AUDIT_LOG, 'siem', now);
    await audit('a', '2026-11-27T00:00:02.000Z');
    expect(await waiting(AUDIT_LOG, 'siem')).toEqual(['a']);
    expect(await entries.addHistory(AUDIT_LOG, 'siem')).toBe(true);
    expect(await waiting(AUDIT_LOG, 'siem')).toEqual(['c', 'b', 'a']);
    await ledger.source.query("DELETE FROM audit_entries WHERE id = 'b'");
    expect((await entries.next(AUDIT_LOG, 'siem')).map(({ row }) => row?.['id'])).toEqual(['c', undefined, 'a']);

    await entries.remove(AUDIT_LOG, 'siem', await entries.next(AUDIT_LOG, 'siem'));
    await entries.register(AUDIT_LOG, 'siem', 2);
    expect(await entries.addHistory(AUDIT_LOG, 'siem')).toBe(true);
    expect(await waiting(AUDIT_LOG, 'siem')).toEqual([]);
    expect(await waiting(RECORDS, 'billing')).toEqual([]);
  });

  it('adds the rows of before in portions, also if a process stops between them', async () => {
    const ids = Array.from({ length: 1_100 }, (_, index) => String(index).padStart(4, '0'));
    for (const id of ids) await audit(id, '2026-11-27T00:00:00.000Z');
    await entries.register(AUDIT_LOG, 'siem', 0);
    const got: string[] = [];
    for (let round = 0; round < 20; round++) {
      // As a new process, which knows nothing.
      entries = new OutboxEntries(ledger.source, new AtomicStatements(ledger.source));
      await entries.addHistory(AUDIT_LOG, 'siem');
      const next = await entries.next(AUDIT_LOG, 'siem');
      got.push(...next.map(({ rowId }) => rowId));
      if (next.length > 0) await entries.remove(AUDIT_LOG, 'siem', next);
    }
    expect(got).toEqual(ids);
  });

  it('forgets a subscriber that no process has had for a time', async () => {
    await ledger.store.append([over({ id: 'record-1' })]);
    await own('billing', 'first', 2 * DAY_MS, 2 * DAY_MS);
    await entries.removeUnseen(DAY_MS);
    expect([await waiting(RECORDS, 'billing'), await waiting(RECORDS, 'archive')]).toEqual([['record-1'], []]);
    expect(await own('archive', 'first', 2 * DAY_MS, 2 * DAY_MS)).toBe(false);
  });
});
