import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Config } from '../../../../src/platform/config/config.js';
import type { Row, Statement } from '../../../../src/platform/database/queries/atomic-statements.js';
import { type ReservationQueue, RunningReservations } from '../../../../src/usage/budgets/running-reservations.js';
import { SharedReservations } from '../../../../src/usage/budgets/shared-reservations.js';
import type { UsageLedger } from '../../../../src/usage/ledger/usage-ledger.js';
import type { UsageWriters } from '../../../../src/usage/store/usage-writers.js';

const AWAY = new Error('The connection was lost.');
const CALLER = { accountId: 'ada', keyId: undefined };
const PRICE = 10;

/** The table of the reservations. */
class Table {
  readonly rows = new Map<string, number>();
  /** Whether statements fail and change nothing. */
  isUnavailable = false;
  left = Infinity;

  readonly run = (_: string, { sql, parameters }: Statement): Promise<readonly Row[]> => {
    if (this.isUnavailable) return Promise.reject(AWAY);
    const id = String(parameters['id']);
    if (sql.startsWith('DELETE')) this.rows.delete(id);
    else if (Number(parameters['needed'] ?? 0) <= this.left) this.rows.set(id, Number(parameters['micros']));
    else return Promise.resolve([]);
    return Promise.resolve([{ id }]);
  };
}

describe('the reservations of a process', () => {
  let table: Table;
  let running: RunningReservations;
  let shared: SharedReservations;
  let store: (ids: readonly string[]) => void;

  beforeEach(() => {
    vi.useFakeTimers();
    table = new Table();
    running = new RunningReservations(
      table as unknown as ReservationQueue,
      { id: 'this process' } as unknown as UsageWriters,
      { currency: 'USD' } as Config,
    );
    const ledger = { listenStored: (listener: typeof store) => (store = listener) };
    shared = new SharedReservations(running, ledger as unknown as UsageLedger, Date.now);
    shared.onModuleInit();
  });
  afterEach(async () => {
    const stopped = shared.beforeApplicationShutdown();
    await vi.advanceTimersByTimeAsync(100);
    await stopped;
    expect(vi.getTimerCount()).toBe(0);
  });

  const budgets = () => [
    { ...CALLER, key: undefined, micros: 1, per: 'month' as const, from: 'a', until: 'b', resetsAt: 0 },
  ];
  const round = () => vi.advanceTimersByTimeAsync(1_000);

  it('is waited for when the process stops', async () => {
    await running.takeOnce({ id: 'a', ...CALLER, micros: PRICE }, budgets());
    table.isUnavailable = true;
    running.end('ada', 'a', { sql: 'DELETE', parameters: { id: 'a' } });
    const stopped = shared.beforeApplicationShutdown();
    await vi.advanceTimersByTimeAsync(1_000);
    table.isUnavailable = false;
    await vi.advanceTimersByTimeAsync(100);
    await stopped;
    expect([...table.rows]).toEqual([]);
  });

  it('of a busy caller leaves no row of 0 behind when its budget is almost used up', async () => {
    const requests = Array.from({ length: 20 }, (_, n) => shared.take(CALLER, `r${n}`, PRICE, budgets));
    expect(await requests.at(-1)).toBe(true);
    table.left = 0;
    store(['r19']);
    await round();
    expect([...table.rows.values()]).toEqual([0]);
    expect(await shared.take(CALLER, 'last', PRICE, budgets)).toBe(false);
    await round();
    await round();
    expect([...table.rows]).toEqual([]);
  });
});
