import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyString } from '../../../../../src/testing/protocols/describe-events.js';
import type { StreamPart } from '../../../../../src/upstreams/contract/stream-part.js';
import { RepeatedEvent } from '../../../../../src/upstreams/protocols/shared/event-parts.js';
import { PROPERTY_RUNS } from '../../../../support/property-runs.js';

interface Event {
  readonly choices: readonly [{ readonly delta: { readonly content: string } }];
}

/** The text, as a parser reads it. */
const parsedText = (data: string): string => (JSON.parse(data) as Event).choices[0].delta.content;

const partsOf = (text: string): StreamPart[] => [{ type: 'text', text }];

/** Reads an event as the protocols do. Returns the text, and whether the event was parsed. */
function read(repeated: RepeatedEvent, data: string): { text: string; isParsed: boolean } {
  const known = repeated.textOf(data);
  if (known !== undefined) return { text: known, isParsed: false };
  const text = parsedText(data);
  if (text !== '') repeated.record(data, partsOf(text));
  return { text, isParsed: true };
}

const eventOf = (content: string, envelope: object = {}): string =>
  JSON.stringify({ ...envelope, choices: [{ index: 0, delta: { content }, finish_reason: null }] });

/** Texts that look like the JSON around them. */
const HARD_TEXTS = [
  ...['content', 'delta', 'choices', '"', '\\', '\\"', '","', '":"', ':', ',', '{', '}', '[]', '"}', '{"content":"x"}'],
  ...[
    'null',
    '0',
    'index',
    'finish_reason',
    '\n',
    '\u0000',
    '\u001f',
    '\u2028',
    '\ud83e',
    '\udd9c',
    '🦜',
    '\\u0041',
    '/',
  ],
];
const texts = fc.oneof(fc.constantFrom(...HARD_TEXTS), fc.string(), anyString);
const envelopes = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ id: 'chatcmpl-1', model: 'fast' }) },
  { weight: 1, arbitrary: fc.record({ id: texts, model: texts, content: texts }, { requiredKeys: [] }) },
  { weight: 1, arbitrary: fc.record({ created: fc.nat(3), delta: fc.record({ content: texts }) }) },
);
/** Servers escape different characters. */
const escapings = fc.constantFrom(
  (json: string) => json,
  (json: string) => json.replaceAll('/', '\\/'),
  (json: string) =>
    json.replace(/[^\u0020-\u007f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  (json: string) => json.replace(/[<>&]/g, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`),
  (json: string) => JSON.stringify(JSON.parse(json), undefined, 1),
);

describe('the text of a repeated event', () => {
  it('is the text that a parser reads, whatever texts and envelopes follow each other', () => {
    const events = fc.array(fc.tuple(texts, envelopes, escapings), { maxLength: 40 });
    fc.assert(
      fc.property(events, (all) => {
        const repeated = new RepeatedEvent();
        for (const [content, envelope, escaped] of all) {
          const data = escaped(eventOf(content, envelope));
          expect(read(repeated, data).text).toBe(parsedText(data));
        }
      }),
      { numRuns: PROPERTY_RUNS },
    );
  });

  it('is read without a parser when only the text differs', () => {
    const repeated = new RepeatedEvent();
    expect(read(repeated, eventOf('Hello'))).toEqual({ text: 'Hello', isParsed: true });
    for (const content of [' world', 'é', '🦜', 'content', "it's"]) {
      expect(read(repeated, eventOf(content))).toEqual({ text: content, isParsed: false });
    }
  });

  it.each(['"', '\\', '\n', '\t', '\u0000', 'a\\u0041', ''])('needs a parser for %j', (content) => {
    const repeated = new RepeatedEvent();
    read(repeated, eventOf('Hello'));
    expect(read(repeated, eventOf(content))).toEqual({ text: content, isParsed: true });
  });

  it('needs a parser when a member is added after the text', () => {
    const repeated = new RepeatedEvent();
    read(repeated, '{"choices":[{"delta":{"content":"a"}}]}');
    const data = '{"choices":[{"delta":{"content":"a","content":"b"}}]}';
    expect(read(repeated, data)).toEqual({ text: 'b', isParsed: true });
  });

  it('is not taken from an event that holds the text twice', () => {
    const repeated = new RepeatedEvent();
    const twice = (content: string) => eventOf(content, { id: content });
    expect(read(repeated, twice('a')).isParsed).toBe(true);
    expect(read(repeated, twice('b')).isParsed).toBe(true);
  });

  it('is taken from events whose only part is a text', () => {
    const one = { type: 'text', text: 'Hello' } as const;
    const others = [[], [one, { type: 'progress' }], [{ type: 'reasoning', text: 'Hello' }]] as const;
    for (const parts of others) {
      const repeated = new RepeatedEvent();
      repeated.record(eventOf('Hello'), parts);
      expect(repeated.textOf(eventOf('you'))).toBeUndefined();
    }
    const repeated = new RepeatedEvent();
    repeated.record(eventOf('Hello'), [one]);
    expect(repeated.textOf(eventOf('you'))).toBe('you');
  });

  it.each([
    [8, 'b'],
    [9, undefined],
  ])('after %d changes of the envelope, is %j', (changes, text) => {
    const repeated = new RepeatedEvent();
    const envelope = (index: number) => ({ id: `chatcmpl-${index}` });
    for (let index = 0; index <= changes; index++) {
      for (const text of ['a', 'c']) repeated.record(eventOf(text, envelope(index)), partsOf(text));
    }
    expect(repeated.textOf(eventOf('b', envelope(changes)))).toBe(text);
  });

  it('is not compared any more after many events with different envelopes', () => {
    const repeated = new RepeatedEvent();
    for (let index = 0; index < 20; index++) read(repeated, eventOf('a', { id: `chatcmpl-${index}` }));
    read(repeated, eventOf('a'));
    expect(read(repeated, eventOf('b'))).toEqual({ text: 'b', isParsed: true });
  });
});
