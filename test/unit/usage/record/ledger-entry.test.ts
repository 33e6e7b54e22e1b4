import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../../src/platform/common/service-error.js';
import type { PriceConfig } from '../../../../src/platform/config/config.js';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';
import { CLIENT_GONE } from '../../../../src/upstreams/completion/part-stream.js';
import {
  LedgerEntry,
  maxPlausibleTokens,
  tokenKindsOf,
  appliedPrice,
  costMicrosOf,
} from '../../../../src/usage/record/ledger-entry.js';
import type { UsageRecord } from '../../../../src/usage/record/usage-record.js';
import { started } from '../../../contract/usage/records.js';

/** The estimated tokens of a prompt. */
const HELLO = 7;

const PRICE = { inputPerMillion: 3, outputPerMillion: 15, currency: 'USD' };

describe('the entry of a stream', () => {
  const MODEL = { contextLength: 1000, maxOutputTokens: 100, price: PRICE };
  let recorded: UsageRecord[];
  let entry: LedgerEntry;
  const stream = started();

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
    recorded = [];
    entry = new LedgerEntry(stream, MODEL, Promise.resolve(), (record) => recorded.push(record));
  });

  function answered(trace = new CallTrace('r'), price?: PriceConfig): CallTrace {
    vi.advanceTimersByTime(5);
    const attempt = trace.beginAttempt('acme', price);
    attempt.accepted = true;
    attempt.firstTextMs = 20;
    trace.usage = { inputTokens: 10, outputTokens: 2 };
    trace.finish = { reason: 'stop', raw: 'stop' };
    vi.advanceTimersByTime(95);
    return trace;
  }

  it('becomes a record of an answer, with the times of the wall clock', () => {
    const trace = answered();
    expect(entry.end(undefined, trace, HELLO)).toEqual({
      ...stream,
      upstream: 'acme',
      attempts: trace.attempts,
      firstTextAt: stream.startedAt + 25,
      endedAt: stream.startedAt + 100,
      outcome: 'completed',
      errorCode: undefined,
      finishReason: 'stop',
      inputTokens: { source: 'reported', count: 10 },
      outputTokens: { source: 'reported', count: 2 },
      toolCalls: 0,
      price: PRICE,
      costMicros: 60,
    });
  });

  it('counts what was written of an answer that was cut, and all of a whole one without a finish reason', () => {
    const cut = answered();
    cut.finish = undefined;
    cut.addText('one two three four');
    const whole = entry.end(undefined, cut, HELLO);
    expect(whole.outputTokens).toEqual({ source: 'reported', count: 2 });
    const { outputTokens } = entry.end(CLIENT_GONE, cut, HELLO);
    expect(outputTokens).toEqual({ source: 'estimated', count: 4 });
  });

  it('is charged by the price of long prompts if the prompt is long', () => {
    const long = { aboveInputTokens: 9, inputPerMillion: 30, outputPerMillion: 150 };
    const price = { ...PRICE, longInput: long };
    entry = new LedgerEntry(stream, { ...MODEL, price }, Promise.resolve(), () => undefined);
    expect(entry.end(undefined, answered(), HELLO).costMicros).toBe(600);
  });

  it('is charged by the price of the route that has answered, or of the model, after another route has failed', () => {
    const costAfterFailure = (price?: PriceConfig) => {
      const trace = new CallTrace('r');
      trace.beginAttempt('failed', { ...PRICE, inputPerMillion: 900 });
      return entry.end(undefined, answered(trace, price), HELLO).costMicros;
    };
    expect(costAfterFailure({ ...PRICE, inputPerMillion: 100, outputPerMillion: 1 })).toBe(1002);
    expect(costAfterFailure()).toBe(60);
  });

  it('has no error code for an error that the client does not receive', () => {
    expect(entry.end(new Error('x'), answered(), HELLO)).toMatchObject({ outcome: 'failed', errorCode: undefined });
  });

  it('has no first text when the upstream that failed last sent none', () => {
    const trace = answered();
    trace.beginAttempt('other');
    expect(entry.end(new ServiceError('upstream_error', ''), trace, HELLO)).toMatchObject({
      upstream: 'other',
      firstTextAt: undefined,
      finishReason: undefined,
    });
  });

  it.each([
    ['a\0b\ud800c\u{1f600}', 'a b c\u{1f600}'],
    ['x'.repeat(65), 'x'.repeat(64)],
    [`${'x'.repeat(63)}\u{1f600}`, `${'x'.repeat(63)} `],
    [7, undefined],
    ['', ''],
  ])('keeps of the finish reason %j what a database accepts', (raw, kept) => {
    const trace = answered();
    trace.finish = { reason: 'stop', raw: raw as string };
    expect(entry.end(undefined, trace, HELLO).finishReason).toBe(kept);
  });

  it('notifies the ledger, and then its listener', () => {
    const calls: string[] = [];
    entry = new LedgerEntry(stream, MODEL, Promise.resolve(), () => calls.push('ledger'));
    entry.whenOver(() => calls.push('listener'));
    expect(calls).toEqual([]);
    entry.end(undefined, answered(), HELLO);
    expect(calls).toEqual(['ledger', 'listener']);
  });

  it('notifies a late listener at once, with the same record', () => {
    const record = entry.end(undefined, answered(), HELLO);
    const heard: UsageRecord[] = [];
    entry.whenOver((one) => heard.push(one));
    expect([recorded[0], heard[0], heard.length]).toEqual([record, record, 1]);
  });
});

describe('the highest plausible number of tokens', () => {
  it.each([
    [{ contextLength: 1000, maxOutputTokens: 500 }, 150_000],
    [{ contextLength: 1000, maxOutputTokens: undefined }, 200_000],
    [{ contextLength: 5_000_000, maxOutputTokens: 4_999_999 }, 999_999_900],
    [{ contextLength: 5_000_000, maxOutputTokens: 5_000_001 }, 1_000_000_000],
  ])('for a model of the size %j is %i', (size, most) => {
    expect(maxPlausibleTokens(size)).toBe(most);
  });
});

describe('the kinds of tokens', () => {
  const [input, output] = [{ source: 'reported', count: 100 } as const, { source: 'reported', count: 10 } as const];
  const NONE = { cachedInputTokens: undefined, cacheWriteInputTokens: undefined, reasoningOutputTokens: undefined };

  it('are what the provider has reported', () => {
    const usage = { cachedInputTokens: 60, cacheWriteInputTokens: 40, reasoningOutputTokens: 10 };
    expect(tokenKindsOf(usage, input, output)).toEqual(usage);
    expect(tokenKindsOf({}, input, output)).toEqual(NONE);
  });

  it.each([{ cachedInputTokens: 100 }, { cacheWriteInputTokens: 1 }, { reasoningOutputTokens: 10 }])(
    'may be reported in part: %o',
    (usage) => {
      expect(tokenKindsOf(usage, input, output)).toEqual({ ...NONE, ...usage });
    },
  );

  it('may be none', () => {
    const usage = { cachedInputTokens: 0, cacheWriteInputTokens: 0, reasoningOutputTokens: 0 };
    expect(tokenKindsOf(usage, input, output)).toEqual(usage);
  });

  it.each([
    { cachedInputTokens: 101 },
    { cachedInputTokens: 60, cacheWriteInputTokens: 41 },
    { cachedInputTokens: -1 },
    { cachedInputTokens: -1, cacheWriteInputTokens: 40 },
    { cachedInputTokens: 40, cacheWriteInputTokens: -1 },
    { cacheWriteInputTokens: 1.5 },
    { cachedInputTokens: Infinity },
    { reasoningOutputTokens: 11 },
  ])('are unknown if they cannot be parts of the whole: %o', (usage) => {
    expect(tokenKindsOf(usage, input, output)).toEqual(NONE);
  });

  it.each([
    { source: 'estimated', count: 100 },
    { source: 'implausible', count: 100, reported: Infinity },
    { source: 'unknown' },
  ] as const)('are unknown if the whole is not reported: $source', (whole) => {
    const usage = { cachedInputTokens: 6, cacheWriteInputTokens: 4, reasoningOutputTokens: 1 };
    expect(tokenKindsOf(usage, whole, whole)).toEqual(NONE);
  });
});

describe('the cost of a stream', () => {
  const reported = (count: number) => ({ source: 'reported', count }) as const;
  const unknown = { source: 'unknown' } as const;
  const tokens = (input: number, output: number) => ({ inputTokens: reported(input), outputTokens: reported(output) });

  it('is whole millionths by the price of each token', () => {
    expect(costMicrosOf(PRICE, tokens(10, 2))).toBe(60);
    expect(costMicrosOf({ ...PRICE, inputPerMillion: 0.05, outputPerMillion: 0.4 }, tokens(10, 1))).toBe(1);
    expect(costMicrosOf(PRICE, tokens(0, 0))).toBe(0);
  });

  it('is unknown without a price, and without any count', () => {
    expect(costMicrosOf(undefined, tokens(10, 2))).toBeUndefined();
    expect(costMicrosOf(PRICE, { inputTokens: unknown, outputTokens: unknown })).toBeUndefined();
  });

  it('has the known tokens next to unknown ones', () => {
    expect(costMicrosOf(PRICE, { inputTokens: unknown, outputTokens: reported(2) })).toBe(30);
    expect(costMicrosOf(PRICE, { inputTokens: reported(10), outputTokens: unknown })).toBe(30);
  });

  it('charges each kind of token by its own price', () => {
    const kinds = { cachedInputTokens: 60, cacheWriteInputTokens: 30, reasoningOutputTokens: 4 };
    const prices = { cachedInputPerMillion: 0.3, cacheWriteInputPerMillion: 4 };
    expect(costMicrosOf({ ...PRICE, ...prices }, { ...tokens(100, 5), ...kinds })).toBe(30 + 18 + 120 + 75);
    const reasoning = { ...prices, reasoningOutputPerMillion: 20 };
    expect(costMicrosOf({ ...PRICE, ...reasoning }, { ...tokens(100, 5), ...kinds })).toBe(30 + 18 + 120 + 15 + 80);
  });

  it('charges tokens of the cache without a price of their own as ordinary input', () => {
    expect(costMicrosOf(PRICE, { ...tokens(100, 5), cachedInputTokens: 60 })).toBe(375);
    expect(costMicrosOf(PRICE, { ...tokens(100, 5), cacheWriteInputTokens: 60 })).toBe(375);
    const none = { cachedInputTokens: 0, cacheWriteInputTokens: 0 };
    expect(costMicrosOf(PRICE, { ...tokens(100, 5), ...none })).toBe(375);
  });

  it('uses the prices of long prompts for all tokens above the limit', () => {
    const long = { inputPerMillion: 6, outputPerMillion: 30, aboveInputTokens: 100 };
    const price = { ...PRICE, longInput: long };
    expect(appliedPrice(price, tokens(100, 1))).toEqual(PRICE);
    expect(appliedPrice(price, tokens(101, 1))).toEqual({ inputPerMillion: 6, outputPerMillion: 30, currency: 'USD' });
    expect(appliedPrice(price, { inputTokens: unknown })).toEqual(PRICE);
    expect(appliedPrice(undefined, tokens(1, 1))).toBeUndefined();
  });
});
