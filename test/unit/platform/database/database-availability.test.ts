import type { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  DatabaseHealth,
  type DatabaseAvailability,
  type Availability,
} from '../../../../src/platform/database/database-availability.js';

const PATIENCE_MS = 1_000;

let answer: () => Promise<unknown>;
const query = vi.fn(() => answer());
const check = vi.fn(() => answer() as Promise<Availability>);
const healthOf = (type: string): DatabaseHealth =>
  new DatabaseHealth(
    { options: { type }, query } as unknown as DataSource,
    { check } as unknown as DatabaseAvailability,
  );

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.clearAllMocks();
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe('the health of an embedded database', () => {
  it.each([
    ['answers', () => Promise.resolve([]), true],
    ['fails', () => Promise.reject(new Error('damaged')), false],
  ])('is checked with a query: it %s', async (_, outcome, isHealthy) => {
    answer = outcome;
    expect(await healthOf('better-sqlite3').ping()).toBe(isHealthy);
    expect([query.mock.calls, check.mock.calls.length]).toEqual([[['SELECT 1']], 0]);
  });
});

describe('the health of PostgreSQL', () => {
  it.each([
    ['available', true],
    ['unavailable', false],
  ])('is checked on the connection of the probe: %s', async (state, isHealthy) => {
    answer = () => Promise.resolve(state);
    expect(await healthOf('postgres').ping()).toBe(isHealthy);
    expect([query.mock.calls.length, check.mock.calls.length]).toEqual([0, 1]);
  });

  it('is checked once for concurrent requests while there is no result, for a second each, and then again', async () => {
    let resolveAnswer: (state: Availability) => void = () => undefined;
    answer = () => new Promise((resolve) => (resolveAnswer = resolve));
    const health = healthOf('postgres');
    const [first, second] = [health.ping(), health.ping()];
    await vi.advanceTimersByTimeAsync(PATIENCE_MS);
    expect(await Promise.all([first, second])).toEqual([false, false]);
    const third = health.ping();
    expect(check).toHaveBeenCalledTimes(1);
    resolveAnswer('available');
    expect(await third).toBe(true);

    answer = () => Promise.resolve('available');
    expect(await health.ping()).toBe(true);
    expect(check).toHaveBeenCalledTimes(2);
  });
});
