import { describe, expect, it, vi } from 'vitest';
import { isJsonBody, JsonObjectsDecoder, ndjson } from '../../../../src/upstreams/transport/json-stream-decoders.js';
import fc from 'fast-check';
import { byteByByte, cutAt } from '../../../../src/testing/protocols/replay.js';
import { PROPERTY_RUNS } from '../../../support/property-runs.js';

function decoded(text: string, pieceBytes: number, maxEventBytes = 1_000): string[] {
  const objects: string[] = [];
  const decoder = new JsonObjectsDecoder(({ data }) => objects.push(data), maxEventBytes);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) decoder.write(bytes.subarray(at, at + pieceBytes));
  decoder.end();
  return objects;
}

const OBJECTS = ['{"a":"}{\\"]","b":{"c":[{}]}}', '{}', '{\n  "é": "\\\\"\n}'];

describe('JSON objects', () => {
  it.each([1, 2, 3, 1_000])('are decoded from a list, in pieces of %i bytes', (pieceBytes) => {
    expect(decoded(`\ufeff [${OBJECTS.join(',\n')}]\n`, pieceBytes)).toEqual(OBJECTS);
    expect(decoded(OBJECTS.join('\n'), pieceBytes)).toEqual(OBJECTS);
  });

  it('are passed on when they are cut, too', () => {
    expect(decoded('{"a":1}{"b":', 4)).toEqual(['{"a":1}', '{"b":']);
  });

  it('are limited in their size', () => {
    expect(() => decoded('{"a":"too long"}', 4, 10)).toThrow('too large');
  });

  it.each([
    ['', undefined],
    [' \r\n', undefined],
    [' {', true],
    ['\ufeff[', true],
    ['data: {', false],
    [': comment', false],
  ])('begin the body %j: %s', (text, isJson) => {
    expect(isJsonBody(Buffer.from(text))).toBe(isJson);
  });
});

const LIMIT = 64;

function decodedLines(pieces: Iterable<Uint8Array>, maxEventBytes = 1024 * 1024): string[] {
  const lines: string[] = [];
  const decoder = ndjson(
    ({ event, data }) => {
      expect(event).toBe('message');
      lines.push(data);
    },
    { maxEventBytes },
  );
  for (const piece of pieces) decoder.write(Buffer.from(piece));
  decoder.end();
  return lines;
}

describe('lines of JSON', () => {
  const value = fc.oneof(
    fc.json(),
    fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify({ text })),
  );

  it('are the same events wherever the bytes are split', () => {
    const ends = fc.constantFrom('\n', '\r\n', '\n\n', '\r\n\r\n');
    const cuts = fc.array(fc.nat(1_000), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(value, { maxLength: 8 }), ends, fc.boolean(), cuts, (values, end, endsLine, positions) => {
        const bytes = Buffer.from(values.join(end) + (endsLine ? end : ''));
        expect(decodedLines([bytes])).toEqual(values);
        expect(decodedLines(byteByByte(bytes))).toEqual(values);
        expect(decodedLines(cutAt(bytes, ...positions.map((position) => position % (bytes.length + 1))))).toEqual(
          values,
        );
      }),
      { numRuns: PROPERTY_RUNS },
    );
  });

  it('are passed on as soon as they end', () => {
    const lines: string[] = [];
    const decoder = ndjson(({ data }) => lines.push(data), { maxEventBytes: LIMIT });
    decoder.write(Buffer.from('{"a":1}\n{"b"'));
    expect(lines).toEqual(['{"a":1}']);
    decoder.write(Buffer.from(':2}\n'));
    expect(lines).toEqual(['{"a":1}', '{"b":2}']);
  });

  it('are limited in size, whether or not they end', () => {
    const line = 'x'.repeat(LIMIT);
    expect(decodedLines([Buffer.from(`${line}\n${line}\n`)], LIMIT)).toEqual([line, line]);
    const tooLarge = { code: 'upstream_error' };
    expect(() => decodedLines([Buffer.from(`${line}x\n`)], LIMIT)).toThrow(expect.objectContaining(tooLarge));
    expect(() => decodedLines(byteByByte(Buffer.from(`${line}x`)), LIMIT)).toThrow(expect.objectContaining(tooLarge));
  });

  it('are not copied where they arrive in one piece', () => {
    const concat = vi.spyOn(Buffer, 'concat');
    const lines = ['{"a":1}', '{"b":2}'];
    expect(decodedLines(lines.map((line) => Buffer.from(`${line}\n`)))).toEqual(lines);
    expect(concat).not.toHaveBeenCalled();
    concat.mockRestore();
  });
});
