import type { DataSource } from 'typeorm';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { DatabaseClock } from '../../../../src/platform/database/database-clock.js';
import { isOver } from '../../../support/latch.js';

const EVERY_MS = 60_000;
const HERE = Date.parse('2026-11-22T12:00:00Z');
const AHEAD_MS = 3 * 3_600_000;

let queries: number;
/** How long the database takes for its answer, and how far its clock is ahead. */
let roundTripMs: number;
let aheadMs: number;
let failure: Error | undefined;
let clock: DatabaseClock;

beforeEach(() => {
  vi.useFakeTimers({ now: HERE });
  queries = 0;
  roundTripMs = 0;
  aheadMs = AHEAD_MS;
  failure = undefined;
  clock = clockOf('postgres');
});

function clockOf(type: string): DatabaseClock {
  const query = async (): Promise<unknown[]> => {
    queries += 1;
    await later(roundTripMs / 2);
    const now = Date.now() + aheadMs;
    await later(roundTripMs / 2);
    if (failure !== undefined) throw failure;
    return [{ now: String(now) }];
  };
  return new DatabaseClock({ options: { type }, query } as unknown as DataSource);
}

const later = (ms: number): Promise<void> =>
  ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
const ahead = (): number => clock.now() - Date.now();
async function started(): Promise<void> {
  const start = clock.onModuleInit();
  await vi.advanceTimersByTimeAsync(roundTripMs);
  await start;
}

describe('the time of the database', () => {
  it('is known when the service has started', async () => {
    roundTripMs = 100;
    const start = clock.onModuleInit();
    await vi.advanceTimersByTimeAsync(roundTripMs - 1);
    expect(await isOver(start)).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await isOver(start)).toBe(true);
    expect(ahead()).toBe(AHEAD_MS);
    clock.onModuleDestroy();
  });

  it('goes on with time, and with no change of the clock of this machine', async () => {
    await started();
    const before = clock.now();
    vi.setSystemTime(HERE + 86_400_000);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(clock.now() - before).toBe(1_500);
    clock.onModuleDestroy();
  });

  it('is that of the moment between question and answer', async () => {
    roundTripMs = 1_000;
    await started();
    expect(ahead()).toBe(AHEAD_MS);
    clock.onModuleDestroy();
  });

  it('is measured every minute, by a timer that does not keep the process alive, until the end', async () => {
    await started();
    expect((Reflect.get(clock, 'timer') as NodeJS.Timeout).hasRef()).toBe(false);
    aheadMs = 0;
    await vi.advanceTimersByTimeAsync(EVERY_MS - 1);
    expect(queries).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    await vi.advanceTimersByTimeAsync(1);
    expect([queries, ahead()]).toEqual([2, 0]);
    clock.onModuleDestroy();
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ['comes too late', () => (roundTripMs = 1_002)],
    ['fails', () => (failure = new Error('away'))],
  ])('stays as it was when the answer %s', async (_, spoil) => {
    await started();
    aheadMs = 0;
    spoil();
    await vi.advanceTimersByTimeAsync(EVERY_MS + 2_000);
    expect([queries, ahead()]).toEqual([2, AHEAD_MS]);
    clock.onModuleDestroy();
  });

  it('is that of this machine before it is known, and with an embedded database', async () => {
    expect(ahead()).toBe(0);
    clock = clockOf('better-sqlite3');
    await clock.onModuleInit();
    expect([queries, ahead(), vi.getTimerCount()]).toEqual([0, 0, 0]);
  });
});
