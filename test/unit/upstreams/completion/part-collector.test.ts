import { describe, expect, it, beforeEach } from 'vitest';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';
import { PartCollector } from '../../../../src/upstreams/completion/part-collector.js';
import { providerFailure } from '../../../../src/upstreams/contract/provider-failure.js';
import type { CompletionPart, StreamPart } from '../../../../src/upstreams/contract/stream-part.js';
import fc from 'fast-check';

function collectorOf(...parts: readonly StreamPart[]): PartCollector {
  const trace = new CallTrace('request-1');
  trace.beginAttempt('acme');
  const collector = new PartCollector(trace, true);
  collector.state.on('accept');
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
    expect([collector.state.isOpen, collector.isWhole]).toEqual([false, false]);
  });

  it('has the first failure, and nothing that follows it', () => {
    const failure = providerFailure('upstream_error', 'HTTP 500');
    const collector = collectorOf(text('a'), { type: 'error', error: failure }, text('b'));
    collector.state.fail(providerFailure('upstream_timeout', 'too late'));
    expect([collector.state.failure, taken(collector)]).toEqual([failure, [{ type: 'text', text: 'a' }]]);
  });
});

const [HIGH, LOW] = ['\ud83e', '\udd9c'];

const PARROT = HIGH + LOW;

const REPLACEMENT = '\ufffd';

const reasoning = (piece: string): StreamPart => ({ type: 'reasoning', text: piece });

const INPUT_USAGE: StreamPart = { type: 'usage', usage: { inputTokens: 7 } };

const complete: StreamPart = { type: 'complete', last: true };

describe('the parts of an answer', () => {
  let trace: CallTrace;
  let collector: PartCollector;

  beforeEach(() => {
    trace = new CallTrace('request-1');
    collector = new PartCollector(trace, true);
    collector.state.on('accept');
  });

  const add = (...parts: readonly StreamPart[]): void => {
    for (const part of parts) collector.add(part);
  };
  const takeAll = (): CompletionPart[] => {
    const taken: CompletionPart[] = [];
    for (let part = collector.take(); part !== undefined; part = collector.take()) taken.push(part);
    return taken;
  };

  it('are joined while their type stays the same, and keep their order', () => {
    add(reasoning('so'), reasoning(', then'), text('Hel'), text('lo'), INPUT_USAGE, text('!'), reasoning('done'));
    expect(takeAll()).toEqual([
      reasoning('so, then'),
      text('Hello!'),
      reasoning('done'),
      { type: 'usage', usage: { inputTokens: 7 } },
    ]);
  });

  it('leave out the reasoning for a reader that does not want it, and join the texts around it', () => {
    collector = new PartCollector(trace);
    add(text('Hel'), reasoning('so'), text('lo'));
    expect(takeAll()).toEqual([text('Hello')]);
    expect(collector.signOfLife).toBe(true);
  });

  it('join the token counts, member by member', () => {
    add(INPUT_USAGE, { type: 'usage', usage: { inputTokens: undefined, outputTokens: 3 } });
    expect(takeAll().at(-1)).toEqual({ type: 'usage', usage: { inputTokens: 7, outputTokens: 3 } });
  });

  it('keep half a character until its other half arrives', () => {
    add(text(`a${HIGH}`));
    expect(takeAll()).toEqual([text('a')]);
    add(text(`${LOW}b`));
    expect(takeAll()).toEqual([text(`${PARROT}b`)]);
  });

  it('join the halves of a character around token counts', () => {
    add(text(`a${HIGH}`), INPUT_USAGE, text(LOW));
    expect(takeAll()).toEqual([text(`a${PARROT}`), { type: 'usage', usage: { inputTokens: 7 } }]);
  });

  it.each([
    ['reasoning after text', text, reasoning],
    ['text after reasoning', reasoning, text],
  ])('never become parts of another type because of half a character: %s', (_, first, second) => {
    add(first(`a${HIGH}`), second('b'));
    expect(takeAll()).toEqual([first(`a${REPLACEMENT}`), second('b')]);
  });

  it('replace half a character at the end of the answer', () => {
    add(text(`a${HIGH}`), complete);
    expect(takeAll()).toEqual([text(`a${REPLACEMENT}`)]);
    expect(collector.isWhole).toBe(true);
  });

  it('replace half a character before a failure', () => {
    add(text(HIGH));
    collector.state.fail(new Error('The connection has failed.'));
    expect(takeAll()).toEqual([text(REPLACEMENT)]);
  });

  it('are not whole while there is text to take', () => {
    add(text('a'), complete);
    expect(collector.isWhole).toBe(false);
    takeAll();
    expect(collector.isWhole).toBe(true);
  });

  it('are ignored after the end', () => {
    add(text('a'), complete, text('b'), INPUT_USAGE, { type: 'error', error: new Error('late') as never });
    expect(takeAll()).toEqual([text('a')]);
    expect(collector.state.failure).toBeUndefined();
  });

  it('hold the same texts of each type, wherever texts are split and whenever they are read', () => {
    const whole = fc.array(
      fc.record({ type: fc.constantFrom('text', 'reasoning'), text: fc.string({ unit: 'grapheme' }) }),
    );
    fc.assert(
      fc.property(whole, fc.infiniteStream(fc.nat(3)), (parts, reads) => {
        collector = new PartCollector(new CallTrace('request-1'), true);
        collector.state.on('accept');
        const taken: CompletionPart[] = [];
        for (const part of parts) {
          // One UTF-16 unit at a time splits all surrogate pairs.
          for (const unit of part.text.split('')) {
            collector.add({ type: part.type as 'text', text: unit });
            if (reads.next().value === 0) taken.push(...takeAll());
          }
        }
        collector.add(complete);
        taken.push(...takeAll());

        expect(joined(taken)).toEqual(joined(parts as CompletionPart[]));
      }),
      { numRuns: 200 },
    );
  });
});

/** The parts, with neighbours of one type joined. */
function joined(parts: readonly CompletionPart[]): string[] {
  const runs: { type: string; text: string }[] = [];
  for (const part of parts) {
    if (part.type !== 'text' && part.type !== 'reasoning') throw new Error('There are only pieces of text.');
    if (part.text === '') continue;
    const last = runs.at(-1);
    if (last?.type === part.type) last.text += part.text;
    else runs.push({ ...part });
  }
  return runs.map(({ type, text: piece }) => `${type}: ${piece}`);
}
