import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Limit } from '../../../../src/throttling/limit-store.js';
import { TokensUsedLookup } from '../../../../src/throttling/tokens/tokens-used.js';

const DAY = Date.parse('2026-11-21T00:00:00Z');
const LIMIT: Limit = { name: 'tokensPerDay', unit: 'tokens', window: 'day', max: 100 };
const WAIT_MS = 1000;
const PAUSE_MS = 5000;

describe('the tokens that the ledger knows', () => {
  let lookups: string[];
  let answer: () => Promise<number>;
  let lookup: TokensUsedLookup;

  beforeEach(() => {
    vi.useFakeTimers();
    lookups = [];
    lookup = new TokensUsedLookup({
      since: (accountId, from) => {
        lookups.push(`${accountId} ${from.toISOString()}`);
        return answer();
      },
    });
  });

  it('are read once for requests that arrive together, and again for later ones', async () => {
    answer = () => Promise.resolve(42);
    expect(
      await Promise.all([
        lookup.since('ada', DAY, LIMIT),
        lookup.since('ada', DAY, LIMIT),
        lookup.since('bob', DAY, LIMIT),
      ]),
    ).toEqual([42, 42, 42]);
    expect(lookups).toEqual(['ada 2026-11-21T00:00:00.000Z', 'bob 2026-11-21T00:00:00.000Z']);
    expect(await lookup.since('ada', DAY, LIMIT)).toBe(42);
    expect(lookups).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are read again after midnight, also while the query about yesterday has no result', async () => {
    const answers: ((tokens: number) => void)[] = [];
    answer = () => new Promise((resolve) => answers.push(resolve));
    const both = Promise.all([lookup.since('ada', DAY, LIMIT), lookup.since('ada', DAY + 86_400_000, LIMIT)]);
    answers[1]?.(7);
    answers[0]?.(900);
    expect(await both).toEqual([900, 7]);
  });

  it.each<[string, () => Promise<number>]>([
    ['fails', () => Promise.reject(new Error('unavailable'))],
    ['says what is not a number', () => Promise.resolve(NaN)],
  ])('are not waited for again for five seconds after a ledger that %s', async (_, broken) => {
    answer = broken;
    expect(await lookup.since('ada', DAY, LIMIT)).toBeUndefined();
    answer = () => Promise.resolve(42);
    vi.advanceTimersByTime(PAUSE_MS - 1);
    expect(await lookup.since('ada', DAY, LIMIT)).toBeUndefined();
    expect(lookups).toHaveLength(1);

    vi.advanceTimersByTime(1);
    expect(await lookup.since('ada', DAY, LIMIT)).toBe(42);
  });

  it('are waited for for a second', async () => {
    answer = () => new Promise(() => undefined);
    let outcome: unknown = 'waiting';
    void lookup.since('ada', DAY, LIMIT).then((tokens) => (outcome = tokens));
    await vi.advanceTimersByTimeAsync(WAIT_MS - 1);
    expect(outcome).toBe('waiting');
    await vi.advanceTimersByTimeAsync(1);
    expect(outcome).toBeUndefined();
  });
});
