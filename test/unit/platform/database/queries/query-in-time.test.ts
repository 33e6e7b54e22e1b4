import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../../../src/platform/common/service-error.js';
import type { DatabaseAvailability, Availability } from '../../../../../src/platform/database/database-availability.js';
import { DatabaseUnavailable, queryInTime } from '../../../../../src/platform/database/queries/query-in-time.js';

const DOUBT_AFTER_MS = 250;
const MAX_MS = 1_000;
const LOST = new Error('Connection terminated unexpectedly');
const REFUSED = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const WRONG = Object.assign(new Error('syntax error'), { code: '42601' });

let state: Availability;
let checks: number;
let attempts: number;
let answers: (() => Promise<string>)[];
const availability = {
  check() {
    checks += 1;
    return Promise.resolve(state);
  },
} as DatabaseAvailability;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  state = 'available';
  checks = 0;
  attempts = 0;
  answers = [];
});

/** Asks, and takes the next of the answers at each try; the last one again and again. */
function ask(): Promise<unknown> {
  const outcome = queryInTime(() => {
    const answer = answers[Math.min(attempts, answers.length - 1)];
    attempts += 1;
    return answer?.() ?? never();
  }, availability);
  return outcome.catch((error: unknown) => error);
}
const never = (): Promise<never> => new Promise(() => undefined);
const answer = () => Promise.resolve('answer');
async function pass(ms = 0): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe('a query about a credential', () => {
  it('has its outcome, without a question about the database', async () => {
    answers = [answer];
    expect(await ask()).toBe('answer');
    expect([checks, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('makes doubt after a quarter of a second, but has its answer if the database is there', async () => {
    let resolveAnswer: (value: string) => void = () => undefined;
    answers = [() => new Promise((resolve) => (resolveAnswer = resolve))];
    const outcome = ask();
    await pass(DOUBT_AFTER_MS - 1);
    expect(checks).toBe(0);
    await pass(1);
    expect(checks).toBe(1);
    resolveAnswer('late');
    expect(await outcome).toBe('late');
    expect([attempts, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('fails as soon as the doubt is true', async () => {
    state = 'unavailable';
    const outcome = ask();
    await pass(DOUBT_AFTER_MS);
    expect(await outcome).toBeInstanceOf(DatabaseUnavailable);
    expect([attempts, checks, vi.getTimerCount()]).toEqual([1, 1, 0]);
  });

  it('is too slow after a second, and not tried again', async () => {
    const outcome = ask();
    await pass(MAX_MS);
    const error = await outcome;
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: 'unavailable', retryAfterSeconds: 1, cause: { name: 'TooSlow' } });
    expect([attempts, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it.each([
    ['was lost, without a code', LOST],
    ['was refused', REFUSED],
  ])('is tried again when its connection %s', async (_, failure) => {
    answers = [() => Promise.reject(failure), () => Promise.reject(failure), answer];
    expect(await ask()).toBe('answer');
    expect([attempts, checks]).toEqual([3, 2]);
  });

  it('is tried three times at most', async () => {
    answers = [() => Promise.reject(REFUSED)];
    expect(await ask()).toMatchObject({ code: 'unavailable', cause: REFUSED });
    expect(attempts).toBe(3);
  });

  it('is not tried again when the database is unavailable', async () => {
    state = 'unavailable';
    answers = [() => Promise.reject(REFUSED)];
    const error = await ask();
    expect(error).toBeInstanceOf(DatabaseUnavailable);
    expect(error).toMatchObject({ cause: REFUSED });
    expect(attempts).toBe(1);
  });

  it('is not tried again when the database refuses it', async () => {
    answers = [() => Promise.reject(WRONG)];
    expect(await ask()).toMatchObject({ code: 'unavailable', cause: WRONG });
    expect(attempts).toBe(1);
  });

  it('is sent again when its result was read too late by a busy process, three times at most', async () => {
    const busy = () => {
      now += MAX_MS + 1;
      return answer();
    };
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    answers = [busy, answer];
    expect(await ask()).toBe('answer');
    expect(attempts).toBe(2);
    attempts = 0;
    answers = [busy];
    expect(await ask()).toMatchObject({ code: 'unavailable', cause: { name: 'TooSlow' } });
    expect(attempts).toBe(3);
    clock.mockRestore();
  });
});
