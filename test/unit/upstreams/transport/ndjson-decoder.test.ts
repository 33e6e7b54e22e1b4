import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { ndjson } from '../../../../src/upstreams/transport/ndjson-decoder.js';
import { byteByByte, cutAt } from '../../../../src/testing/protocols/replay.js';
import { PROPERTY_RUNS } from '../../../support/property-runs.js';

const LIMIT = 64;

function decoded(pieces: Iterable<Uint8Array>, maxEventBytes = 1024 * 1024): string[] {
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
        expect(decoded([bytes])).toEqual(values);
        expect(decoded(byteByByte(bytes))).toEqual(values);
        expect(decoded(cutAt(bytes, ...positions.map((position) => position % (bytes.length + 1))))).toEqual(values);
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
    expect(decoded([Buffer.from(`${line}\n${line}\n`)], LIMIT)).toEqual([line, line]);
    const tooLarge = { code: 'upstream_error' };
    expect(() => decoded([Buffer.from(`${line}x\n`)], LIMIT)).toThrow(expect.objectContaining(tooLarge));
    expect(() => decoded(byteByByte(Buffer.from(`${line}x`)), LIMIT)).toThrow(expect.objectContaining(tooLarge));
  });

  it('are not copied where they arrive in one piece', () => {
    const concat = vi.spyOn(Buffer, 'concat');
    const lines = ['{"a":1}', '{"b":2}'];
    expect(decoded(lines.map((line) => Buffer.from(`${line}\n`)))).toEqual(lines);
    expect(concat).not.toHaveBeenCalled();
    concat.mockRestore();
  });
});
