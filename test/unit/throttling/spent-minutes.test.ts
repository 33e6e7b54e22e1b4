import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SpentMinutes } from '../../../src/throttling/redis/spent-minutes.js';

const LIMIT = 5;
const LEFT_MS = 30_000;
const SLACK_MS = 20;
const MOST_ACCOUNTS = 10_000;
const STATE = { requests: { limit: LIMIT, remaining: 0, resetSeconds: 30 }, streams: undefined, tokens: undefined };

let minutes: SpentMinutes;

beforeEach(() => {
  vi.useFakeTimers();
  minutes = new SpentMinutes();
});
afterEach(() => {
  vi.useRealTimers();
});

const known = (): number => (Reflect.get(minutes, 'minutes') as Map<string, unknown>).size;

describe('a minute without requests left', () => {
  it('is known with the time that is left, until shortly before its end', () => {
    minutes.note('ada', STATE, LEFT_MS);
    expect(minutes.stateOf('ada', LIMIT)).toEqual(STATE);
    vi.advanceTimersByTime(10_000);
    expect(minutes.stateOf('ada', LIMIT)).toEqual({ ...STATE, requests: { ...STATE.requests, resetSeconds: 20 } });
    vi.advanceTimersByTime(5_000 - 10);
    expect(minutes.stateOf('ada', LIMIT)?.requests?.resetSeconds).toBe(16);
    vi.advanceTimersByTime(LEFT_MS - 15_000 + 10 - SLACK_MS - 1);
    expect(minutes.stateOf('ada', LIMIT)?.requests?.resetSeconds).toBe(1);
    vi.advanceTimersByTime(1);
    expect(minutes.stateOf('ada', LIMIT)).toBeUndefined();
    expect(known()).toBe(0);
  });

  it('is forgotten when the limit of the tier has changed', () => {
    minutes.note('ada', STATE, LEFT_MS);
    expect(minutes.stateOf('ada', LIMIT + 1)).toBeUndefined();
    expect(minutes.stateOf('ada', LIMIT)).toBeUndefined();
    minutes.note('ada', STATE, LEFT_MS);
    expect(minutes.stateOf('ada', undefined)).toBeUndefined();
  });

  it('is none without a limit of requests', () => {
    minutes.note('ada', { ...STATE, requests: undefined }, LEFT_MS);
    expect(minutes.stateOf('ada', undefined)).toBeUndefined();
    expect(known()).toBe(0);
  });

  it('is of one account, and begins anew with each note', () => {
    minutes.note('ada', STATE, 1_000);
    minutes.note('ada', STATE, LEFT_MS);
    vi.advanceTimersByTime(2_000);
    expect(minutes.stateOf('ada', LIMIT)).toBeDefined();
    expect(minutes.stateOf('bob', LIMIT)).toBeUndefined();
    minutes.clear();
    expect(minutes.stateOf('ada', LIMIT)).toBeUndefined();
  });

  it('is known of ten thousand accounts, those noted last', () => {
    for (let number = 0; number < MOST_ACCOUNTS; number++) minutes.note(String(number), STATE, LEFT_MS);
    expect(known()).toBe(MOST_ACCOUNTS);
    minutes.note('0', STATE, LEFT_MS);
    minutes.note('one more', STATE, LEFT_MS);
    expect(known()).toBe(MOST_ACCOUNTS);
    expect(minutes.stateOf('0', LIMIT)).toBeDefined();
    expect(minutes.stateOf('1', LIMIT)).toBeUndefined();
    expect(minutes.stateOf('2', LIMIT)).toBeDefined();
  });
});
