import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RecordRetention } from '../../../../src/usage/ledger/record-retention.js';
import type { UsageStore } from '../../../../src/usage/store/usage-store.js';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-22T12:00:00Z');
const FIRST_MS = 60_000;
const HOUR_MS = 3_600_000;
const PAUSE_MS = 50;
const PORTION = 500;

let rounds: (readonly [before: number, most: number])[];
let deleted: () => Promise<number>;
const store = {
  deleteBefore(before: number, most: number) {
    rounds.push([before, most]);
    return deleted();
  },
} as UsageStore;
const retentionOf = (usageRetentionDays: number | undefined, of = store): RecordRetention =>
  new RecordRetention(of, { usageRetentionDays }, () => NOW);
const roundsOf = (retention: RecordRetention): object =>
  Reflect.get(Reflect.get(retention, 'retention') as object, 'rounds') as object;
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
  rounds = [];
  deleted = () => Promise.resolve(0);
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('old records', () => {
  it('are deleted a minute after the start, and then every hour, until the end', async () => {
    const retention = retentionOf(30);
    retention.onApplicationBootstrap();
    expect((Reflect.get(roundsOf(retention), 'timer') as NodeJS.Timeout).hasRef()).toBe(false);
    await pass(FIRST_MS - 1);
    expect(rounds).toEqual([]);
    await pass(1);
    expect(rounds).toEqual([[NOW - 30 * DAY_MS, PORTION]]);
    await pass(HOUR_MS - 1);
    expect(rounds).toHaveLength(1);
    await pass(1);
    expect(rounds).toHaveLength(2);
    retention.onApplicationShutdown();
    await pass(2 * HOUR_MS);
    expect(rounds).toHaveLength(2);
  });

  it('are deleted in portions with a delay, until a portion is not full', async () => {
    const counts = [PORTION, PORTION, PORTION - 1];
    deleted = () => Promise.resolve(counts.shift() ?? 0);
    const retention = retentionOf(1);
    retention.onApplicationBootstrap();
    await pass(FIRST_MS);
    await pass(PAUSE_MS - 1);
    expect(rounds).toHaveLength(1);
    await pass(1);
    await pass(PAUSE_MS);
    expect(rounds).toHaveLength(3);
    await pass(HOUR_MS - 1);
    expect(rounds).toHaveLength(3);
    retention.onApplicationShutdown();
  });

  it('are tried again in an hour after a failure, which is logged', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    deleted = () => Promise.reject(new Error('away'));
    const retention = retentionOf(1);
    retention.onApplicationBootstrap();
    await pass(FIRST_MS + HOUR_MS);
    expect([rounds.length, warn.mock.calls.length]).toEqual([2, 2]);
    expect(warn.mock.calls[0]?.[0]).toMatchObject({ reason: 'Error: away' });
    retention.onApplicationShutdown();
  });

  it('are not looked for again when the service has stopped meanwhile', async () => {
    let end: (count: number) => void = () => undefined;
    deleted = () => new Promise((resolve) => (end = resolve));
    const retention = retentionOf(1);
    retention.onApplicationBootstrap();
    await pass(FIRST_MS);
    retention.onApplicationShutdown();
    end(PORTION);
    await pass(HOUR_MS);
    expect(rounds).toHaveLength(1);
  });

  it('stay without a number of days', () => {
    retentionOf(undefined).onApplicationBootstrap();
  });

  it('stay in a store that cannot delete', async () => {
    expect(await retentionOf(1, {} as UsageStore).deletePortion(1)).toBe(0);
  });
});
