import { describe, expect, it } from 'vitest';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';
import { inputTokensOf, quotaTokens, outputTokensOf } from '../../../../src/usage/record/token-counts.js';
import { over } from '../../../contract/usage/records.js';

/** The estimated tokens of a prompt. */
const PROMPT = 7;

describe('the tokens of a prompt', () => {
  const trace = (inputTokens?: unknown, accepted?: boolean) => {
    const made = new CallTrace('r');
    if (accepted !== undefined) made.beginAttempt('acme').accepted = accepted;
    made.usage = { inputTokens } as CallTrace['usage'];
    return made;
  };

  it('are not counted by a provider that reports 0', () => {
    expect(inputTokensOf(trace(0), PROMPT, 100)).toEqual(inputTokensOf(trace(undefined), PROMPT, 100));
  });

  it('are what the provider reports, from 1 to the highest plausible number', () => {
    expect(inputTokensOf(trace(1), PROMPT, 100)).toEqual({ source: 'reported', count: 1 });
    expect(inputTokensOf(trace(100), PROMPT, 100)).toEqual({ source: 'reported', count: 100 });
  });

  it.each([101, -1, 1.5, NaN, '7', null])(
    'are an estimate when the provider reports %j, which stays visible',
    (reported) => {
      expect(inputTokensOf(trace(reported), PROMPT, 100)).toEqual({
        source: 'implausible',
        count: PROMPT,
        reported,
      });
    },
  );

  it('are an estimate when the provider has accepted the request and reports nothing', () => {
    expect(inputTokensOf(trace(undefined, true), PROMPT, 100)).toEqual({
      source: 'estimated',
      count: PROMPT,
    });
    expect(inputTokensOf(trace(undefined, true), PROMPT, 2)).toEqual({ source: 'estimated', count: 2 });
  });

  it('are no estimate of a failure before any text, and what the provider reports of it', () => {
    expect(inputTokensOf(trace(undefined, true), PROMPT, 100, true)).toEqual({ source: 'unknown' });
    expect(inputTokensOf(trace(5, true), PROMPT, 100, true)).toEqual({ source: 'reported', count: 5 });
    const thinking = trace(undefined, true);
    thinking.addReasoning('one two');
    expect(inputTokensOf(thinking, PROMPT, 100, true)).toEqual({ source: 'estimated', count: PROMPT });
  });

  it('are unknown when no provider has accepted the request', () => {
    expect(inputTokensOf(trace(), PROMPT, 100)).toEqual({ source: 'unknown' });
    expect(inputTokensOf(trace(undefined, false), PROMPT, 100)).toEqual({ source: 'unknown' });
  });
});

describe('the tokens of an answer', () => {
  const FINISH = { reason: 'stop', raw: 'stop' } as const;
  const TEXT = 'one two three four';
  const estimated = 4;
  const trace = (outputTokens: unknown, text = '', finish?: CallTrace['finish']) => {
    const made = new CallTrace('r');
    made.usage = { outputTokens } as CallTrace['usage'];
    if (text !== '') made.addText(text);
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

  it('are unknown if nothing was sent and nothing was reported', () => {
    expect(outputTokensOf(trace(undefined), true, 100)).toEqual({ source: 'unknown' });
    expect(outputTokensOf(trace(undefined), false, 100)).toEqual({ source: 'unknown' });
  });

  it('are at least what was reported before the first text', () => {
    expect(outputTokensOf(trace(5), false, 100)).toEqual({ source: 'estimated', count: 5 });
  });

  it('are an estimate of the reasoning of an answer that was left before its text', () => {
    const thinking = trace(undefined);
    thinking.addReasoning(TEXT);
    expect(outputTokensOf(thinking, false, 100)).toEqual({ source: 'estimated', count: estimated });
    thinking.beginAttempt('backup');
    expect(outputTokensOf(thinking, false, 100)).toEqual({ source: 'unknown' });
  });

  it('are not estimated above the limit that the provider got, unless the provider has sent much more', () => {
    expect(outputTokensOf(trace(undefined, TEXT), false, 100, 3)).toEqual({ source: 'estimated', count: 3 });
    expect(outputTokensOf(trace(undefined, TEXT), false, 100, 2)).toEqual({ source: 'estimated', count: 2 });
    expect(outputTokensOf(trace(undefined, TEXT), false, 100, 1)).toEqual({ source: 'estimated', count: estimated });
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
