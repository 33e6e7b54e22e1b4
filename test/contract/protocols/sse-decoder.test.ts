import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProviderEvent } from '../../../src/upstreams/contract/protocol.js';
import { SseDecoder } from '../../../src/upstreams/transport/sse-decoder.js';
import { leastCpuMs } from '../../support/least-ms.js';
import { byteByByte, cutAt } from '../../../src/testing/protocols/replay.js';
import { PROPERTY_RUNS } from '../../support/property-runs.js';

function decode(pieces: Iterable<Uint8Array>, maxEventBytes?: number): ProviderEvent[] {
  const events: ProviderEvent[] = [];
  const decoder = new SseDecoder((event) => events.push(event), maxEventBytes);
  for (const piece of pieces) decoder.write(Buffer.from(piece));
  decoder.end();
  return events;
}

function decodeText(text: string): ProviderEvent[] {
  return decode([Buffer.from(text)]);
}

/** The events of a whole stream as an independent parser of the standard sees them. */
function oracle(bytes: Uint8Array): ProviderEvent[] {
  const events: ProviderEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => events.push({ event: event ?? 'message', data }),
  });
  // This decoder takes the byte order mark off.
  parser.feed(new TextDecoder().decode(bytes));
  return events;
}

const message = (data: string) => ({ event: 'message', data });

describe('SseDecoder', () => {
  it.each<[string, string, readonly ProviderEvent[]]>([
    ['LF', 'data: a\n\ndata: b\n\n', [message('a'), message('b')]],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', [message('a'), message('b')]],
    ['CR', 'data: a\r\rdata: b\r\r', [message('a'), message('b')]],
    ['a byte order mark', '\ufeffdata: a\n\n', [message('a')]],
    ['no byte order mark but at the start', 'data: a\n\n\ufeffdata: b\n\n', [message('a')]],
    ['a byte order mark inside data', 'data: \ufeffa\n\n', [message('\ufeffa')]],
    ['no space', 'data:a\n\n', [message('a')]],
    ['one space of two', 'data:  a\n\n', [message(' a')]],
    ['a tab, which is no space', 'data:\ta\n\n', [message('\ta')]],
    ['comments', ': hi\n\n:\ndata: a\n: b\n\n', [message('a')]],
    ['an event name', 'event: error\ndata: a\n\ndata: b\n\n', [{ event: 'error', data: 'a' }, message('b')]],
    ['a name after data', 'data: a\nevent: ping\n\n', [{ event: 'ping', data: 'a' }]],
    ['a name taken back', 'event: ping\nevent\ndata: a\n\n', [message('a')]],
    ['a name without data', 'event: ping\n\ndata: a\n\n', [message('a')]],
    ['id and retry lines', 'id: 1\nretry: 5\ndata: a\n\n', [message('a')]],
    ['unknown fields', 'dat: a\ndatax: b\n data: c\nDATA: d\nfoo\ndata: e\n\n', [message('e')]],
    ['data of many lines', 'data: a\ndata:\ndata: b\n\n', [message('a\n\nb')]],
    ['empty data', 'data:\n\n', [message('')]],
    ['data without a colon', 'data\n\ndata\ndata\n\n', [message(''), message('\n')]],
    ['no data', '\n\nid: 1\n\nevent: a\n\n', []],
    ['an error field', 'error: {"a":1}\n\ndata: b\n\n', [{ event: 'error', data: '{"a":1}' }, message('b')]],
    ['an error field without a space', 'error:x\r\n\r\n', [{ event: 'error', data: 'x' }]],
    ['a bare error field', 'error\n\n', [{ event: 'error', data: '' }]],
    ['a last event without a blank line', 'data: a\n\ndata: b\n', [message('a'), message('b')]],
    ['a last line without an end', 'data: a\n\ndata: b', [message('a'), message('b')]],
    ['a last error field without an end', 'error: b', [{ event: 'error', data: 'b' }]],
    ['JSON without a field', 'data: a\n\nevent: ping\n{"b":1}\n\n', [message('a'), { event: 'ping', data: '{"b":1}' }]],
    [
      'no JSON without a field next to data',
      '{"b":1}\ndata: a\n\n: c\n\ndata: d\n{"b":1}\n\n:\n\n',
      [message('a'), message('d')],
    ],
    ['a last name without data', 'event: b', []],
    ['nothing', '', []],
  ])('reads %s, wherever it is split', (_, text, events) => {
    const bytes = Buffer.from(text);
    expect(decode([bytes])).toEqual(events);
    expect(decode(byteByByte(bytes))).toEqual(events);
    for (let position = 0; position <= bytes.length; position++) {
      expect(decode(cutAt(bytes, position)), `split at ${position}`).toEqual(events);
    }
  });

  it('reads bytes that are a view of a larger memory', () => {
    const memory = new TextEncoder().encode('XXdata: ä\n\nYY');
    expect(decode([memory.subarray(2, memory.length - 2)])).toEqual([message('ä')]);
  });

  it.each(['data: ż\n\n', 'data: ż\r\n\r\n', 'data: ż\r\r', 'event: x\r\ndata: ż\r\r', 'data: a\ndata: ż\n\n'])(
    'hands on %j at the byte that ends it, in whatever pieces',
    (text) => {
      const bytes = Buffer.from(text);
      // The end of a CRLF is its CR: an event must not wait for the LF, which may come late.
      const endsAt = text.endsWith('\r\n') ? bytes.length - 1 : bytes.length;
      for (const pieces of [[bytes.subarray(0, endsAt)], byteByByte(bytes.subarray(0, endsAt))]) {
        const events: ProviderEvent[] = [];
        const decoder = new SseDecoder((event) => events.push(event));
        for (const piece of pieces) decoder.write(Buffer.from(piece));
        expect(events).toHaveLength(1);
      }
    },
  );

  it('swallows the LF of a CRLF that is split between reads, and no other', () => {
    const pieces = ['data: a\r', '\n', '\r', '\n', 'data: b\r', '', '\ndata: c\r', '\r', 'data: d\n\n'];
    expect(decode(pieces.map((piece) => Buffer.from(piece)))).toEqual([message('a'), message('b\nc'), message('d')]);
  });

  it('replaces bytes that are not UTF-8, as the standard says', () => {
    const bytes = Buffer.from([...Buffer.from('data: a'), 0xff, 0xe6, 0x97, ...Buffer.from('b\n\n')]);
    expect(decode([bytes])).toEqual([message(new TextDecoder().decode(bytes).slice(6, -2))]);
    expect(decode(byteByByte(bytes))).toEqual(decode([bytes]));
  });

  it('sees what an independent parser sees, whatever the bytes and the pieces', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '',
        ':',
        ': x',
        'data',
        'data:',
        'data: ',
        'event',
        'event:',
        'id: 1',
        'retry: 1',
        'foo: x',
        ' data: x',
      ),
      fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => `data: ${text}`),
      fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => `data:${text}`),
      fc.constantFrom('a', 'error', 'ż', '🦢').map((name) => `event: ${name}`),
    );
    const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
    const lines = fc.array(fc.tuple(line, lineEnd, fc.boolean()), { maxLength: 12 });
    const stream = fc
      .tuple(fc.boolean(), lines, fc.array(fc.tuple(fc.nat(200), fc.integer({ min: 128, max: 255 })), { maxLength: 2 }))
      .map(([mark, all, broken]) => {
        const text = all.map(([content, end, blank]) => content + end + (blank ? end : '')).join('');
        const bytes = Buffer.from(`${mark ? '\ufeff' : ''}${text}\n\n`);
        // Bytes that are not UTF-8, but never in the line ends.
        for (const [at, byte] of broken) {
          const old = bytes[at];
          if (old !== undefined && at > 3 && old !== 10 && old !== 13) bytes[at] = byte;
        }
        return bytes;
      });
    fc.assert(
      fc.property(stream, fc.array(fc.nat(200), { maxLength: 8 }), (bytes, cuts) => {
        const expected = oracle(bytes);
        expect(decode([bytes])).toEqual(expected);
        expect(decode(byteByByte(bytes))).toEqual(expected);
        const positions = cuts.map((cut) => Math.min(cut, bytes.length));
        expect(decode(cutAt(bytes, ...positions))).toEqual(expected);
      }),
      { numRuns: PROPERTY_RUNS },
    );
  });

  describe('with an upper bound', () => {
    const tooLarge = expect.objectContaining({
      code: 'upstream_error',
      message: 'The provider sent an event that is too large.',
    }) as Error;

    it.each([
      'data: 56789\n\n',
      'data: 56789\r\n\r\n',
      'data: 5\ndata: \n\n',
      'data: 5678',
      ': 23456789\n',
      'foo: 67890\n',
    ])('accepts %j, which just fits', (text) => {
      expect(() => decode([Buffer.from(text)], 14)).not.toThrow();
      expect(() => decode(byteByByte(Buffer.from(text)), 14)).not.toThrow();
    });

    it.each([
      ['a line', 'data: 5678901234\n\n'],
      ['a line that is not the first', ': 1\ndata: 5678901234\n\n'],
      ['a line with CRLF', 'data: 5678901234\r\n\r\n'],
      ['a line without an end', 'data: 5678901234'],
      ['a comment', ': 23456789012345\n\n'],
      ['an unknown field', 'foo: 67890123456\n\n'],
      ['a name', 'event: 678901234\n\n'],
      ['an event of many lines', 'data: 56\ndata: 5\n\n'],
      ['an event of many empty lines', 'data\ndata\ndata\ndata\n\n'],
    ])('refuses %s above it, in whatever pieces', (_, text) => {
      const bytes = Buffer.from(text);
      expect(() => decode([bytes], 14)).toThrow(tooLarge);
      expect(() => decode(byteByByte(bytes), 14)).toThrow(tooLarge);
    });

    it('measures each event by itself', () => {
      const text = 'data: 5678901\n\n'.repeat(50) + 'data: 5\ndata:\n\n'.repeat(50);
      expect(decode([Buffer.from(text)], 14)).toHaveLength(100);
      expect(decode(byteByByte(Buffer.from(text)), 14)).toHaveLength(100);
    });

    it('refuses a line that never ends as soon as it is too long', () => {
      const decoder = new SseDecoder(() => undefined);
      const piece = Buffer.alloc(128 * 1024, 'x');
      for (let count = 0; count < 8; count++) decoder.write(Buffer.from(piece));
      expect(() => {
        decoder.write(Buffer.from(piece));
      }).toThrow(tooLarge);
    });

    it('accepts an event of 1 MiB by default, and no larger one', () => {
      const lineOf = (length: number) => `data: ${'x'.repeat(length - 'data: '.length)}\n\n`;
      const largest = lineOf(1024 * 1024);
      expect(decodeText(largest)).toEqual([message(largest.slice(6, -2))]);
      expect(() => decodeText(lineOf(1024 * 1024 + 1))).toThrow(tooLarge);
    });

    it('reads a long line in small pieces in time that grows with its length only', async () => {
      const cpuMsFor = (length: number) => {
        const bytes = Buffer.from(`data: ${'ż'.repeat(length / 2)}\n\n`);
        const pieces = Array.from({ length: Math.ceil(bytes.length / 16) }, (_, index) =>
          bytes.subarray(index * 16, index * 16 + 16),
        );
        return leastCpuMs(() => {
          expect(decode(pieces, bytes.length)).toHaveLength(1);
        });
      };
      const small = await cpuMsFor(256 * 1024);
      // 16 times the length: about 16 times the time, where copying again for each piece would make it 256 times.
      expect(await cpuMsFor(4 * 1024 * 1024)).toBeLessThan(Math.max(small, 2) * 100);
    });
  });
});
