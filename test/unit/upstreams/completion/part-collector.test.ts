import { describe, expect, it } from 'vitest';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';
import { PartCollector } from '../../../../src/upstreams/completion/part-collector.js';
import { providerFailure } from '../../../../src/upstreams/contract/provider-failure.js';
import type { CompletionPart, StreamPart } from '../../../../src/upstreams/contract/stream-part.js';

function collectorOf(...parts: readonly StreamPart[]): PartCollector {
  const trace = new CallTrace('request-1');
  trace.beginAttempt('acme');
  const collector = new PartCollector(trace, true);
  parts.forEach((part) => {
    collector.add(part);
  });
  return collector;
}

function taken(collector: PartCollector): CompletionPart[] {
  const parts: CompletionPart[] = [];
  for (let part = collector.take(); part !== undefined; part = collector.take()) parts.push(part);
  return parts;
}

const text = (piece: string): StreamPart => ({ type: 'text', text: piece });
const usage = (outputTokens: number): StreamPart => ({ type: 'usage', usage: { outputTokens } });

describe('the parts of one read', () => {
  it('are one text, although the provider sends token counts in each event', () => {
    const collector = collectorOf(text('a'), usage(1), text('b'), usage(2), text('c'), usage(3));
    expect(taken(collector)).toEqual([
      { type: 'text', text: 'abc' },
      { type: 'usage', usage: { outputTokens: 3 } },
    ]);
    expect(taken(collector)).toEqual([]);
  });

  it('have the token counts before the finish', () => {
    const finish: StreamPart = { type: 'finish', reason: 'stop', raw: 'stop' };
    expect(taken(collectorOf(text('a'), usage(1), finish))).toEqual([
      { type: 'text', text: 'a' },
      { type: 'usage', usage: { outputTokens: 1 } },
      finish,
    ]);
  });

  it('have late token counts after the finish', () => {
    const finish: StreamPart = { type: 'finish', reason: 'stop', raw: 'stop' };
    expect(taken(collectorOf(finish, usage(1)))).toEqual([finish, { type: 'usage', usage: { outputTokens: 1 } }]);
  });

  it('keep the order of reasoning and text', () => {
    const reasoning: StreamPart = { type: 'reasoning', text: 'so' };
    expect(taken(collectorOf(reasoning, usage(1), reasoning, text('a'), usage(2)))).toEqual([
      { type: 'reasoning', text: 'soso' },
      { type: 'text', text: 'a' },
      { type: 'usage', usage: { outputTokens: 2 } },
    ]);
  });

  it('have no half of a character before another kind of part', () => {
    expect(taken(collectorOf({ type: 'reasoning', text: 'so\ud83d' }, text('a')))).toEqual([
      { type: 'reasoning', text: 'so\ufffd' },
      { type: 'text', text: 'a' },
    ]);
  });

  it.each(['\u{1f600}', '\u{10000}', '\u{10ffff}'])('keep half of %o for the next read', (character) => {
    const collector = collectorOf(text(`a${character.charAt(0)}`), usage(1));
    expect(taken(collector)).toEqual([{ type: 'text', text: 'a' }]);
    collector.add(text(character.charAt(1)));
    expect(taken(collector)).toEqual([
      { type: 'text', text: character },
      { type: 'usage', usage: { outputTokens: 1 } },
    ]);
  });
});

describe('an answer', () => {
  const last: StreamPart = { type: 'complete', last: true };

  it('is whole when its text is read, and nothing can follow', () => {
    const collector = collectorOf(text('a'));
    taken(collector);
    expect(collector.isWhole).toBe(false);
    collector.add(text('b'));
    collector.add(last);
    expect(collector.isWhole).toBe(false);
    taken(collector);
    expect(collector.isWhole).toBe(true);
  });

  it('is not whole when it has failed', () => {
    const collector = collectorOf(text('a'), { type: 'error', error: providerFailure('upstream_error', 'HTTP 500') });
    taken(collector);
    expect([collector.over, collector.isWhole]).toEqual([true, false]);
  });

  it('has the first failure, and nothing that follows it', () => {
    const failure = providerFailure('upstream_error', 'HTTP 500');
    const collector = collectorOf(text('a'), { type: 'error', error: failure }, text('b'));
    collector.fail(providerFailure('upstream_timeout', 'too late'));
    expect([collector.error, taken(collector)]).toEqual([failure, [{ type: 'text', text: 'a' }]]);
  });
});
