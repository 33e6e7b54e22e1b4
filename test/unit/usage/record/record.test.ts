import { estimateTokenCount } from 'tokenx';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Principal } from '../../../../src/auth/principal/principal.js';
import { defineError } from '../../../../src/common/define-error.js';
import { ERRORS, ServiceError, type ErrorCode } from '../../../../src/common/service-error.js';
import type { PriceConfig, TierConfig } from '../../../../src/config/config.js';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';
import { CLIENT_GONE } from '../../../../src/upstreams/completion/part-reader.js';
import { appliedPrice, costMicrosOf } from '../../../../src/usage/record/cost.js';
import { LedgerEntry } from '../../../../src/usage/record/ledger-entry.js';
import { maxPlausibleTokens } from '../../../../src/usage/record/plausible-tokens.js';
import { recordId } from '../../../../src/usage/record/record-id.js';
import { FAILED_OUTCOMES, streamOutcomeOf } from '../../../../src/usage/record/stream-outcome.js';
import { inputTokensOf, quotaTokens, outputTokensOf } from '../../../../src/usage/record/token-counts.js';
import { estimatePromptTokens, estimateTokens } from '../../../../src/usage/record/token-estimate.js';
import { tokenKindsOf } from '../../../../src/usage/record/token-kinds.js';
import { usageClient } from '../../../../src/usage/record/usage-client.js';
import type { UsageRecord } from '../../../../src/usage/record/usage-record.js';
import { begun, over } from '../../../contract/usage/records.js';

const HELLO = { text: 'Hello, how are you today?', length: 25 };
const ESTIMATE_OF_HELLO = estimateTokenCount('Hello, how are you today?');
const PRICE = { inputPerMillion: 3, outputPerMillion: 15, currency: 'USD' };

describe('the id of a record', () => {
  it('is a UUID of version 7 that begins with the time', () => {
    const id = recordId(Date.parse('2026-11-21T00:00:00.123Z') + 0.75);
    expect(id).toMatch(/^01a1fb67-187b-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(recordId(0)).toMatch(/^00000000-0000-7/);
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

  it('is unknown without a price, and with unknown tokens of one side', () => {
    expect(costMicrosOf(undefined, tokens(10, 2))).toBeUndefined();
    expect(costMicrosOf(PRICE, { inputTokens: unknown, outputTokens: reported(2) })).toBeUndefined();
    expect(costMicrosOf(PRICE, { inputTokens: reported(10), outputTokens: unknown })).toBeUndefined();
  });

  it('charges each kind of token by its own price', () => {
    const kinds = { cachedInputTokens: 60, cacheWriteInputTokens: 30, reasoningOutputTokens: 4 };
    const prices = { cachedInputPerMillion: 0.3, cacheWriteInputPerMillion: 4 };
    expect(costMicrosOf({ ...PRICE, ...prices }, { ...tokens(100, 5), ...kinds })).toBe(30 + 18 + 120 + 75);
    const reasoning = { ...prices, reasoningOutputPerMillion: 20 };
    expect(costMicrosOf({ ...PRICE, ...reasoning }, { ...tokens(100, 5), ...kinds })).toBe(30 + 18 + 120 + 15 + 80);
  });

  it('is unknown with tokens of the cache that have no price', () => {
    expect(costMicrosOf(PRICE, { ...tokens(100, 5), cachedInputTokens: 1 })).toBeUndefined();
    expect(costMicrosOf(PRICE, { ...tokens(100, 5), cacheWriteInputTokens: 1 })).toBeUndefined();
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

describe('an estimate of tokens', () => {
  it('grows with the length beyond the sample', () => {
    const count = estimateTokenCount('one two three four');
    expect(count).toBeGreaterThan(1);
    expect(estimateTokens('one two three four', 18)).toBe(count);
    expect(estimateTokens('one two three four', 180)).toBe(10 * count);
  });

  it('is 0 for no text, and at least 1 for any text', () => {
    expect([estimateTokens('', 0), estimateTokens(' ', 1)]).toEqual([0, 1]);
    expect([
      estimatePromptTokens({ messages: [] }),
      estimatePromptTokens({ messages: [{ role: 'user', content: '' }] }),
    ]).toEqual([0, 0]);
  });

  it('of a prompt reads the first 2,048 characters, across messages, and counts all of them', () => {
    const messages = ['a '.repeat(512), 'b '.repeat(600), '长'.repeat(5000)].map((content) => ({
      role: 'user' as const,
      content,
    }));
    const sample = 'a '.repeat(512) + 'b '.repeat(512);
    expect(estimatePromptTokens({ messages })).toBe(estimateTokens(sample, 1024 + 1200 + 5000));
    expect(estimatePromptTokens({ messages: [...messages].reverse() })).toBe(estimateTokens('长'.repeat(2048), 7224));
  });
});

describe('the tokens of a prompt', () => {
  const trace = (inputTokens?: unknown, accepted?: boolean) => {
    const made = new CallTrace('r');
    if (accepted !== undefined) made.beginAttempt('acme').accepted = accepted;
    made.usage = { inputTokens } as CallTrace['usage'];
    return made;
  };

  it('are not counted by a provider that reports 0', () => {
    expect(inputTokensOf(trace(0), HELLO, 100)).toEqual(inputTokensOf(trace(undefined), HELLO, 100));
  });

  it('are what the provider reports, from 1 to the highest plausible number', () => {
    expect(inputTokensOf(trace(1), HELLO, 100)).toEqual({ source: 'reported', count: 1 });
    expect(inputTokensOf(trace(100), HELLO, 100)).toEqual({ source: 'reported', count: 100 });
  });

  it.each([101, -1, 1.5, NaN, '7', null])(
    'are an estimate when the provider reports %j, which stays visible',
    (reported) => {
      expect(inputTokensOf(trace(reported), HELLO, 100)).toEqual({
        source: 'implausible',
        count: ESTIMATE_OF_HELLO,
        reported,
      });
    },
  );

  it('are an estimate when the provider has accepted the request and reports nothing', () => {
    expect(inputTokensOf(trace(undefined, true), HELLO, 100)).toEqual({
      source: 'estimated',
      count: ESTIMATE_OF_HELLO,
    });
    expect(inputTokensOf(trace(undefined, true), HELLO, 2)).toEqual({ source: 'estimated', count: 2 });
  });

  it('are unknown when no provider has accepted the request', () => {
    expect(inputTokensOf(trace(), HELLO, 100)).toEqual({ source: 'unknown' });
    expect(inputTokensOf(trace(undefined, false), HELLO, 100)).toEqual({ source: 'unknown' });
  });
});

describe('the tokens of an answer', () => {
  const FINISH = { reason: 'stop', raw: 'stop' } as const;
  const TEXT = 'one two three four';
  const estimated = estimateTokenCount(TEXT);
  const trace = (outputTokens: unknown, text = '', finish?: CallTrace['finish']) => {
    const made = new CallTrace('r');
    made.usage = { outputTokens } as CallTrace['usage'];
    made.addText(text);
    made.finish = finish;
    return made;
  };

  it('are what the provider reports of a whole answer, or of one that has a finish reason', () => {
    expect(outputTokensOf(trace(50, TEXT), true, 100)).toEqual({ source: 'reported', count: 50 });
    expect(outputTokensOf(trace(50, TEXT, FINISH), false, 100)).toEqual({ source: 'reported', count: 50 });
  });

  it('of an unfinished answer are an estimate of its text, and at least what was reported', () => {
    expect(outputTokensOf(trace(1, TEXT), false, 100)).toEqual({ source: 'estimated', count: estimated });
    expect(outputTokensOf(trace(50, TEXT), false, 100)).toEqual({ source: 'estimated', count: 50 });
  });

  it('are an estimate when nothing is reported, within what is plausible', () => {
    expect(outputTokensOf(trace(undefined, TEXT, FINISH), true, 100)).toEqual({
      source: 'estimated',
      count: estimated,
    });
    expect(outputTokensOf(trace(undefined, TEXT), true, 2)).toEqual({ source: 'estimated', count: 2 });
  });

  it('are not counted by a provider that reports 0 next to a text', () => {
    expect(outputTokensOf(trace(0, TEXT, FINISH), true, 100)).toEqual({ source: 'estimated', count: estimated });
    expect(outputTokensOf(trace(0, '', FINISH), true, 100)).toEqual({ source: 'reported', count: 0 });
  });

  it('are unknown without a text and a final report', () => {
    expect(outputTokensOf(trace(undefined), true, 100)).toEqual({ source: 'unknown' });
    expect(outputTokensOf(trace(5), false, 100)).toEqual({ source: 'unknown' });
  });

  it('that cannot be are an estimate, or nothing without a text', () => {
    expect(outputTokensOf(trace(101, TEXT), true, 100)).toEqual({
      source: 'implausible',
      count: estimated,
      reported: 101,
    });
    expect(outputTokensOf(trace(-1, TEXT), false, 100)).toEqual({
      source: 'implausible',
      count: estimated,
      reported: -1,
    });
    expect(outputTokensOf(trace(101), true, 100)).toEqual({ source: 'implausible', count: undefined, reported: 101 });
  });
});

describe('the tokens that a stream uses of the quota', () => {
  it('are those that are known', () => {
    const unknown = { source: 'unknown' } as const;
    expect(quotaTokens(over())).toBe(30);
    expect(quotaTokens(over({ inputTokens: unknown }))).toBe(20);
    expect(quotaTokens(over({ outputTokens: unknown }))).toBe(10);
  });
});

describe('the client of a record', () => {
  const tier = { name: 'free' } as TierConfig;
  it('has the key of an API key, and of no other credential', () => {
    const key = { kind: 'api_key', keyId: 'k1', prefix: 'csk_1' } as const;
    expect(usageClient({ accountId: 'ada', tier, credential: key } satisfies Principal)).toEqual({
      accountId: 'ada',
      credential: 'api_key',
      keyId: 'k1',
      keyPrefix: 'csk_1',
    });
    expect(usageClient({ accountId: 'ada', tier, credential: { kind: 'session', sessionId: 's' } })).toEqual({
      accountId: 'ada',
      credential: 'session',
      keyId: undefined,
      keyPrefix: undefined,
    });
  });
});

describe('the outcome of a stream', () => {
  const outcomes: Partial<Record<ErrorCode, string>> = {
    cancelled: 'client_gone',
    key_revoked: 'revoked',
    shutting_down: 'drained',
    upstream_timeout: 'timed_out',
    upstream_error: 'upstream_failed',
    upstream_unavailable: 'upstream_failed',
    upstream_rejected: 'rejected',
    content_filtered: 'rejected',
    invalid_request: 'rejected',
  };

  it.each(Object.keys(ERRORS) as ErrorCode[])('that ends with %s is the one of this code', (code) => {
    expect(streamOutcomeOf(new ServiceError(code, ''))).toBe(outcomes[code] ?? 'failed');
  });

  it.each([
    ['caller', 'rejected'],
    ['service', 'failed'],
    ['provider', 'failed'],
  ] as const)('that ends with the error of a plugin, at the fault of the %s, is %s', (fault, outcome) => {
    const Failure = defineError(`acme_of_${fault}`, { status: 500, fault, description: 'Never.' });
    expect(streamOutcomeOf(new Failure(''))).toBe(outcome);
  });

  it('that ends without a ServiceError is completed, left by its client, or failed', () => {
    expect([undefined, CLIENT_GONE, new Error('x'), null].map(streamOutcomeOf)).toEqual([
      'completed',
      'client_gone',
      'failed',
      'failed',
    ]);
  });

  it('is a failure unless the answer is complete, its client left, or its credential ended', () => {
    expect([...FAILED_OUTCOMES].sort()).toEqual([
      ...['drained', 'failed', 'interrupted', 'rejected', 'timed_out', 'upstream_failed'],
    ]);
  });
});

describe('the entry of a stream', () => {
  const MODEL = { contextLength: 1000, maxOutputTokens: 100, price: PRICE };
  let told: UsageRecord[];
  let entry: LedgerEntry;
  const stream = begun();

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
    told = [];
    entry = new LedgerEntry(stream, MODEL, Promise.resolve(), (record) => told.push(record));
  });
  afterEach(() => {
    vi.useRealTimers();
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

  it('becomes a record of a stream without a request to an upstream', () => {
    expect(entry.end(new ServiceError('shutting_down', ''), new CallTrace('r'), HELLO)).toEqual({
      ...stream,
      upstream: undefined,
      attempts: [],
      firstTextAt: undefined,
      endedAt: stream.startedAt,
      outcome: 'drained',
      errorCode: 'shutting_down',
      finishReason: undefined,
      inputTokens: { source: 'unknown' },
      outputTokens: { source: 'unknown' },
      toolCalls: 0,
      price: PRICE,
      costMicros: undefined,
    });
  });

  it('counts what was written of an answer that was cut, and all of a whole one without a finish reason', () => {
    const cut = answered();
    cut.finish = undefined;
    cut.addText('one two three four');
    const whole = entry.end(undefined, cut, HELLO);
    expect(whole.outputTokens).toEqual({ source: 'reported', count: 2 });
    const { outputTokens } = entry.end(CLIENT_GONE, cut, HELLO);
    expect(outputTokens).toEqual({ source: 'estimated', count: estimateTokenCount('one two three four') });
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
    expect([told[0], heard[0], heard.length]).toEqual([record, record, 1]);
  });
});
