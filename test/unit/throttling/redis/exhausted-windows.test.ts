import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Limit } from '../../../../src/throttling/limit-store.js';
import { ExhaustedWindows } from '../../../../src/throttling/redis/exhausted-windows.js';
import { limitsOf } from '../../../../src/throttling/account-limits.js';

const LEFT_MS = 30_000;
const SLACK_MS = 20;
const MAX_ACCOUNTS = 10_000;
const LIMITS = limitsOf({ requestsPerMinute: 5, concurrentStreams: 2 });
const [REQUESTS] = LIMITS as [Limit];
const STATES = {
  requestsPerMinute: { limit: 5, remaining: 0, resetSeconds: 30 },
  concurrentStreams: { limit: 2, remaining: 2 },
};

let windows: ExhaustedWindows;

beforeEach(() => {
  vi.useFakeTimers();
  windows = new ExhaustedWindows();
});

const set = (accountId: string, leftMs = LEFT_MS): void => {
  windows.set(accountId, REQUESTS, STATES, leftMs);
};
const resetOf = (accountId: string) => windows.get(accountId, LIMITS)?.states['requestsPerMinute']?.resetSeconds;
const size = (): number => (Reflect.get(windows, 'windows') as Map<string, unknown>).size;

describe('a window without requests left', () => {
  it('is kept with the time that is left, until shortly before its end', () => {
    set('ada');
    expect(windows.get('ada', LIMITS)).toMatchObject({ name: 'requestsPerMinute', states: STATES });
    vi.advanceTimersByTime(10_000);
    expect(resetOf('ada')).toBe(20);
    vi.advanceTimersByTime(5_000 - 10);
    expect(resetOf('ada')).toBe(16);
    vi.advanceTimersByTime(LEFT_MS - 15_000 + 10 - SLACK_MS - 1);
    expect(resetOf('ada')).toBe(1);
    vi.advanceTimersByTime(1);
    expect(windows.get('ada', LIMITS)).toBeUndefined();
    expect(size()).toBe(0);
  });

  it.each([
    ['has another maximum', limitsOf({ requestsPerMinute: 6, concurrentStreams: 2 })],
    ['is gone', limitsOf({ concurrentStreams: 2 })],
  ])('is removed when the limit of the tier %s', (_, limits) => {
    set('ada');
    expect(windows.get('ada', limits)).toBeUndefined();
    expect(windows.get('ada', LIMITS)).toBeUndefined();
  });

  it('is not kept for slots and tokens, which can be released at any time', () => {
    for (const limit of limitsOf({ concurrentStreams: 2, tokensPerMinute: 9, tokensPerDay: 9 })) {
      windows.set('ada', limit, STATES, LEFT_MS);
    }
    expect(size()).toBe(0);
  });

  it('belongs to one account, and is replaced by a later one', () => {
    set('ada', 1_000);
    set('ada');
    vi.advanceTimersByTime(2_000);
    expect(windows.get('ada', LIMITS)).toBeDefined();
    expect(windows.get('bob', LIMITS)).toBeUndefined();
    windows.clear();
    expect(windows.get('ada', LIMITS)).toBeUndefined();
  });

  it('is kept for ten thousand accounts, the latest', () => {
    for (let number = 0; number < MAX_ACCOUNTS; number++) set(String(number));
    expect(size()).toBe(MAX_ACCOUNTS);
    set('0');
    set('one more');
    expect(size()).toBe(MAX_ACCOUNTS);
    expect(['0', '1', '2'].map((account) => windows.get(account, LIMITS) !== undefined)).toEqual([true, false, true]);
  });
});
