import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';
import { PartCollector } from '../../../../src/upstreams/completion/part-collector.js';
import type { CompletionPart, StreamPart } from '../../../../src/upstreams/contract/stream-part.js';

const [HIGH, LOW] = ['\ud83e', '\udd9c'];
const PARROT = HIGH + LOW;
const REPLACEMENT = '\ufffd';

const text = (piece: string): StreamPart => ({ type: 'text', text: piece });
const reasoning = (piece: string): StreamPart => ({ type: 'reasoning', text: piece });
const usage: StreamPart = { type: 'usage', usage: { inputTokens: 7 } };
const complete: StreamPart = { type: 'complete', last: true };

describe('the parts of an answer', () => {
  let trace: CallTrace;
  let collector: PartCollector;

  beforeEach(() => {
    trace = new CallTrace('request-1');
    collector = new PartCollector(trace, true);
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
    add(reasoning('so'), reasoning(', then'), text('Hel'), text('lo'), usage, text('!'), reasoning('done'));
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
    add(usage, { type: 'usage', usage: { inputTokens: undefined, outputTokens: 3 } });
    expect(takeAll().at(-1)).toEqual({ type: 'usage', usage: { inputTokens: 7, outputTokens: 3 } });
  });

  it('keep half a character until its other half arrives', () => {
    add(text(`a${HIGH}`));
    expect(takeAll()).toEqual([text('a')]);
    add(text(`${LOW}b`));
    expect(takeAll()).toEqual([text(`${PARROT}b`)]);
  });

  it('join the halves of a character around token counts', () => {
    add(text(`a${HIGH}`), usage, text(LOW));
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
    collector.fail(new Error('The connection has failed.'));
    expect(takeAll()).toEqual([text(REPLACEMENT)]);
  });

  it('are not whole while there is text to take', () => {
    add(text('a'), complete);
    expect(collector.isWhole).toBe(false);
    takeAll();
    expect(collector.isWhole).toBe(true);
  });

  it('are ignored after the end', () => {
    add(text('a'), complete, text('b'), usage, { type: 'error', error: new Error('late') as never });
    expect(takeAll()).toEqual([text('a')]);
    expect(collector.error).toBeUndefined();
  });

  it('hold the same texts of each type, wherever texts are split and whenever they are read', () => {
    const whole = fc.array(
      fc.record({ type: fc.constantFrom('text', 'reasoning'), text: fc.string({ unit: 'grapheme' }) }),
    );
    fc.assert(
      fc.property(whole, fc.infiniteStream(fc.nat(3)), (parts, reads) => {
        collector = new PartCollector(new CallTrace('request-1'), true);
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
