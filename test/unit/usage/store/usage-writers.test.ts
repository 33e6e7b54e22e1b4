import type { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { elapsedMs } from '../../../../src/platform/common/timers/pace.js';
import { DatabaseAvailability, type HeldLock } from '../../../../src/platform/database/database-availability.js';
import { UsageWriters } from '../../../../src/usage/store/usage-writers.js';

const SETTLED_MS = 5_000;
const RECONNECT_MS = 500;

let now: number;
let queries: { readonly statement: string; readonly values: readonly unknown[] }[];
/** The ids that the lookups for lost connections find, one after the other. */
let disconnected: (readonly string[])[];
let failure: Error | undefined;
let availability: Availability;
let writers: UsageWriters;

class Availability extends DatabaseAvailability {
  readonly isUnavailable = false;
  lock: HeldLock | undefined;
  private readonly listeners: (() => void)[] = [];

  whenLocked(listener: () => void): void {
    this.listeners.push(listener);
  }

  take(key: number): void {
    this.lock = { key, heldSince: elapsedMs() };
    for (const listener of this.listeners) listener();
  }

  check(): Promise<'available'> {
    return Promise.resolve('available');
  }
}

beforeEach(() => {
  now = 1_000_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  queries = [];
  disconnected = [];
  failure = undefined;
  availability = new Availability();
  writers = new UsageWriters(
    {
      options: { type: 'postgres' },
      query(statement: string, values: readonly unknown[] = []) {
        queries.push({ statement, values });
        if (failure !== undefined) return Promise.reject(failure);
        if (!statement.includes('lock_key IS NOT NULL')) return Promise.resolve([]);
        return Promise.resolve((disconnected.shift() ?? []).map((id) => ({ id })));
      },
    } as unknown as DataSource,
    availability,
  );
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const beats = () => queries.filter(({ statement }) => statement.startsWith('INSERT INTO usage_writers'));
const lookups = () => queries.filter(({ statement }) => statement.includes('lock_key IS NOT NULL'));
const removed = () => queries.filter(({ statement }) => /^DELETE .* id IN/.test(statement)).map(({ values }) => values);

describe('the row of this process', () => {
  it('is not written by a lock before the process has one, nor after it has left', async () => {
    availability.take(42);
    await turn();
    expect(beats()).toEqual([]);
    await writers.beat();
    await writers.leave();
    expect(removed()).toEqual([[writers.id]]);
    availability.take(43);
    await turn();
    expect(beats()).toHaveLength(1);
  });

  it('is left to the next heartbeat where the database refuses it after a lock', async () => {
    await writers.beat();
    failure = new Error('away');
    availability.take(42);
    await turn();
    failure = undefined;
    await writers.beat();
    expect(beats().at(-1)?.values[3]).toBe(42);
  });
});

describe('processes that have lost their connection', () => {
  beforeEach(() => {
    availability.take(42);
    now += SETTLED_MS;
  });

  it('are removed when they have not connected again within half a second', async () => {
    disconnected = [
      ['dead', 'back'],
      ['dead', 'newly lost'],
    ];
    const startedAt = process.hrtime.bigint();
    await writers.removeDead(false);
    expect(Number(process.hrtime.bigint() - startedAt) / 1e6).toBeGreaterThan(RECONNECT_MS - 10);
    expect(removed()).toEqual([['dead']]);
  });

  it('are never this process itself', async () => {
    disconnected = [[writers.id], [writers.id]];
    await writers.removeDead(false);
    expect([lookups().length, removed()]).toEqual([1, []]);
  });

  it('are those without a heartbeat for 15 seconds, or all if it is urgent', async () => {
    await writers.removeDead(false);
    await writers.removeDead(true);
    expect(lookups().map(({ statement }) => /AND seen_at < .* - (\d+)/.exec(statement)?.[1])).toEqual([
      '15',
      undefined,
    ]);
    expect(lookups()[1]?.statement).toMatch(/ IS NOT NULL\s+AND lock_key NOT IN /);
  });

  it('are not looked for until this process has held its lock for five seconds, or without a lock', async () => {
    now -= 1;
    await writers.removeDead(true);
    availability.lock = undefined;
    now += SETTLED_MS;
    await writers.removeDead(true);
    expect(lookups()).toEqual([]);
  });
});
