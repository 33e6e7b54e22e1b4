import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';
import { PartCollector } from '../../../../src/upstreams/completion/part-collector.js';
import type { CompletionPart, StreamPart } from '../../../../src/upstreams/contract/stream-part.js';

function collectorOf(...parts: readonly StreamPart[]): PartCollector {
  const collector = new PartCollector(new CallTrace('request-1'), true);
  collector.state.on('accept');
  for (const part of parts) collector.add(part);
  return collector;
}

function taken(collector: PartCollector): CompletionPart[] {
  const parts: CompletionPart[] = [];
  for (let part = collector.take(); part !== undefined; part = collector.take()) parts.push(part);
  return parts;
}

const text = (piece: string): StreamPart => ({ type: 'text', text: piece });
const reasoning = (piece: string): StreamPart => ({ type: 'reasoning', text: piece });
const usage = (outputTokens: number): StreamPart => ({ type: 'usage', usage: { outputTokens } });
const FINISH: StreamPart = { type: 'finish', reason: 'stop', raw: 'stop' };
const COMPLETE: StreamPart = { type: 'complete', last: true };
const [HIGH, LOW] = ['\ud83e', '\udd9c'];
const REPLACEMENT = '\ufffd';

describe('the parts of an answer', () => {
  it.each<[string, StreamPart[], StreamPart[]]>([
    ['join texts around token counts', [text('a'), usage(1), text('b'), usage(2)], [text('ab'), usage(2)]],
    ['have the token counts before the finish', [text('a'), usage(1), FINISH], [text('a'), usage(1), FINISH]],
    ['have late token counts after the finish', [FINISH, usage(1)], [FINISH, usage(1)]],
    [
      'keep the order of reasoning and text',
      [reasoning('so'), usage(1), reasoning('so'), text('a'), usage(2), reasoning('b')],
      [reasoning('soso'), text('a'), reasoning('b'), usage(2)],
    ],
    [
      'join the token counts, member by member',
      [usage(1), { type: 'usage', usage: { inputTokens: 7, outputTokens: undefined } }],
      [{ type: 'usage', usage: { inputTokens: 7, outputTokens: 1 } }],
    ],
    [
      'join the halves of a character around token counts',
      [text(`a${HIGH}`), usage(1), text(LOW)],
      [text(`a${HIGH}${LOW}`), usage(1)],
    ],
    ['have no reasoning with half of a text', [text(HIGH), reasoning('b')], [text(REPLACEMENT), reasoning('b')]],
    ['have no text with half of a reasoning', [reasoning(HIGH), text('b')], [reasoning(REPLACEMENT), text('b')]],
    ['replace half a character at the end', [text(`a${HIGH}`), COMPLETE], [text(`a${REPLACEMENT}`)]],
    ['are ignored after the end', [text('a'), COMPLETE, text('b'), usage(1)], [text('a')]],
  ])('%s', (_, parts, expected) => {
    expect(taken(collectorOf(...parts))).toEqual(expected);
  });

  it.each(['\u{1f600}', '\u{10000}', '\u{10ffff}'])('keep half of %o for the next read', (character) => {
    const collector = collectorOf(text(`a${character.charAt(0)}`), usage(1));
    expect(taken(collector)).toEqual([text('a')]);
    collector.add(text(character.charAt(1)));
    expect(taken(collector)).toEqual([text(character), usage(1)]);
  });

  it('leave out the reasoning for a reader that does not want it, and join the texts around it', () => {
    const collector = new PartCollector(new CallTrace('request-1'));
    collector.state.on('accept');
    for (const part of [text('Hel'), reasoning('so'), text('lo')]) collector.add(part);
    expect(taken(collector)).toEqual([text('Hello')]);
    expect(collector.signOfLife).toBe(true);
  });

  it('replace half a character before a failure', () => {
    const collector = collectorOf(text(HIGH));
    collector.state.fail(new Error('The connection has failed.'));
    expect(taken(collector)).toEqual([text(REPLACEMENT)]);
  });

  it('are not whole while there is text to take', () => {
    const collector = collectorOf(text('a'), COMPLETE);
    expect(collector.isWhole).toBe(false);
    taken(collector);
    expect(collector.isWhole).toBe(true);
  });

  it('hold the same texts of each type, wherever texts are split and whenever they are read', () => {
    const whole = fc.array(
      fc.record({ type: fc.constantFrom('text', 'reasoning'), text: fc.string({ unit: 'grapheme' }) }),
    );
    fc.assert(
      fc.property(whole, fc.infiniteStream(fc.nat(3)), (parts, reads) => {
        const collector = collectorOf();
        const all: CompletionPart[] = [];
        for (const part of parts) {
          // One UTF-16 unit at a time splits all surrogate pairs.
          for (const unit of part.text.split('')) {
            collector.add({ type: part.type as 'text', text: unit });
            if (reads.next().value === 0) all.push(...taken(collector));
          }
        }
        collector.add(COMPLETE);
        all.push(...taken(collector));

        expect(joined(all)).toEqual(joined(parts as CompletionPart[]));
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
