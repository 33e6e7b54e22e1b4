import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { ProviderEvent } from '../../upstreams/contract/protocol.js';
import type { StreamPart } from '../../upstreams/contract/stream-part.js';
import { runs } from './property-runs.js';
import type { ProtocolSubject } from './protocol-contract.js';

const codePoint = fc.oneof(fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }));

/**
 * Strings of any characters, and strings that programs often get wrong. In contrast to the unit `binary` of fast-check, it has no table
 * of all characters, which takes a second.
 */
export const anyString = fc.oneof(
  { weight: 1, arbitrary: fc.string() },
  { weight: 4, arbitrary: fc.string({ unit: codePoint.map((code) => String.fromCodePoint(code)) }) },
);

/** The order of the parts of one event. The parts of tool calls have one rank. */
const ORDER: readonly string[] = ['reasoning', 'text', 'tool_call', 'progress', 'usage', 'finish', 'complete', 'error'];

function rankOf({ type }: StreamPart): number {
  return ORDER.indexOf(type.startsWith('tool_call') ? 'tool_call' : type);
}

const USUAL_VOCABULARY = [
  ...[
    'type',
    'message',
    'content',
    'text',
    'delta',
    'usage',
    'finish_reason',
    'stop',
    'done',
    'error',
    'code',
    'status',
  ],
  ...['toString', 'valueOf', '__proto__'],
];

/** Describes how a protocol reads single events: arbitrary, expensive and failed ones. */
export function describeEvents(
  { partsOf, hasEventNames }: ProtocolSubject,
  vocabulary: readonly string[] = USUAL_VOCABULARY,
): void {
  describe('with events that make no sense', () => {
    const names = fc.oneof(fc.constantFrom('message', 'error', 'ping'), fc.string());

    it('never throws, and keeps the order of parts, for any text', () => {
      fc.assert(fc.property(names, anyString, checkParts), runs(1_000));
    });

    it('never throws, and keeps the order of parts, for any JSON', () => {
      const event = fc.property(names, fc.oneof(fc.json(), arbitraryJson(vocabulary)), checkParts);
      fc.assert(event, runs(3_000));
    });

    it('reports text that is not JSON as a failure of the provider', () => {
      expect(partsOf({ event: 'message', data: '<html>' })).toMatchObject([
        { type: 'error', error: { code: 'upstream_error' } },
      ]);
    });

    it.each(['7', '"text"', 'true', '[]', '[{}]'])('reports %s as a failure of the provider', (data) => {
      expect(partsOf({ event: 'message', data })).toMatchObject([{ type: 'error', error: { code: 'upstream_error' } }]);
    });

    it.each(['', ' ', '\n', 'null'])(
      'takes an event without data (%j) for a sign that the connection lives',
      (data) => {
        expect(partsOf({ event: 'message', data })).toEqual([]);
      },
    );

    it('says nothing of an object that it does not know', () => {
      expect(partsOf({ event: 'message', data: '{"brand":"new"}' })).toEqual([]);
    });
  });

  describe('with an event that would be expensive to read', () => {
    const nested = (depth: number) => `{"brand":${'['.repeat(depth)}"${'x'.repeat(3_000)}"${']'.repeat(depth)}}`;

    it('reads a text of any length, whatever stands in it', () => {
      const brand = `${'[{,'.repeat(100_000)}"\\\\" \\`;
      expect(partsOf({ event: 'message', data: JSON.stringify({ brand }) })).toEqual([]);
    });

    it('reads as much structure as providers send', () => {
      expect(partsOf({ event: 'message', data: nested(32) })).toEqual([]);
      const logprobs = Array.from({ length: 1_000 }, () => ({ token: 'x', logprob: -0.5, bytes: [120] }));
      expect(partsOf({ event: 'message', data: JSON.stringify({ logprobs }) })).toEqual([]);
    });

    it.each([
      ['is nested deeply', nested(100)],
      ['is nested without end', '['.repeat(1_000_000)],
      ['holds objects without end', `{"brand":[${'{},'.repeat(300_000)}1]}`],
      ['holds members without end', `{"brand":{${'"a":0,'.repeat(100_000)}"b":0}}`],
    ])('reports one that %s as a failure of the provider, and does not parse it', (_, data) => {
      const parse = vi.spyOn(JSON, 'parse');
      try {
        expect(partsOf({ event: 'message', data })).toMatchObject([
          { type: 'error', error: { code: 'upstream_error' } },
        ]);
        expect(parse.mock.calls.every(([text]) => text.length < data.length / 2)).toBe(true);
      } finally {
        parse.mockRestore();
      }
    });

    it('reports one that never ends its text as a failure of the provider', () => {
      const data = `{"brand":"${'\\\\'.repeat(100_000)}`;
      expect(partsOf({ event: 'message', data })).toMatchObject([{ type: 'error', error: { code: 'upstream_error' } }]);
    });
  });

  describe('with a failure that the provider reports', () => {
    const text = `the key sk-secret is blocked ${'x'.repeat(1_000)}`;
    const events: readonly ProviderEvent[] = [
      { event: 'error', data: text },
      { event: 'error', data: JSON.stringify({ type: 'error', error: { type: 'server_error', message: text } }) },
      ...(hasEventNames ? [{ event: 'error', data: JSON.stringify({ message: text, code: 429 }) }] : []),
      { event: 'error', data: JSON.stringify({ error: { type: 'our secret', code: 'my secret', status: 424_242 } }) },
      { event: 'error', data: JSON.stringify({ error: { type: text, metadata: { error_type: 'a secret' } } }) },
    ];

    it.each(events)(
      'keeps the text of the provider from the caller and from the log: $data.length characters',
      (event) => {
        const part = errorPartOf(event);
        expect(part.error.message).not.toContain('secret');
        expect(String(part.error.cause)).not.toContain('secret');
        expect(String(part.error.cause)).not.toContain('424242');
      },
    );

    it('logs the labels that are identifiers or short numbers, and "other" in place of other labels', () => {
      const labels = { type: 'invalid_request_error', code: 'a piece of the prompt', status: 400 };
      const part = errorPartOf({ event: 'error', data: JSON.stringify({ error: labels }) });
      expect(part.error.cause).toMatchObject({ message: 'invalid_request_error other 400' });
    });

    it('does not log what may be a piece of an answer', () => {
      const part = errorPartOf({ event: 'message', data: '{"text":"a private answer' });
      expect(String(part.error.cause)).not.toContain('private');
    });
  });

  function errorPartOf(event: ProviderEvent) {
    const [part] = partsOf(event);
    if (part?.type === 'error') return part;
    const advice =
      'Answer an event named "error", and an object with the member "error", with errorEventParts(data, body). ' +
      'For a framing without names of events, pass hasEventNames: false.';
    throw new Error(`There is no error part. ${advice}`);
  }

  function checkParts(name: string, data: string): void {
    const parts = partsOf({ event: name, data });
    const ranks = parts.map(rankOf);
    // Thousands of events have no part or one part. An `expect` takes longer than to read such an event.
    if (ranks.length > 1) expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
    for (const part of parts) {
      if (part.type === 'text') expect(part.text).not.toBe('');
      if (part.type === 'usage') expect(Object.values(part.usage).filter((count) => count >= 0)).not.toHaveLength(0);
    }
    const types = parts.map(({ type }) => type);
    if (types.includes('error')) expect(types, 'failed and complete').not.toContain('complete');
  }
}

/** JSON objects whose members and texts are mostly words of the protocol. */
export function arbitraryJson(words: readonly string[] = USUAL_VOCABULARY): fc.Arbitrary<string> {
  const word = fc.constantFrom(...words);
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      word,
      fc.constantFrom(null, 0, 1, -1, 1.5, 400, 429, '', true, [], {}),
      fc.dictionary(word, tie('value'), { maxKeys: 6 }),
      fc.array(tie('value'), { maxLength: 3 }),
    ),
  }));
  return fc.dictionary(word, value, { minKeys: 1, maxKeys: 6 }).map((object) => JSON.stringify(object));
}
