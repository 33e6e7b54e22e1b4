import { describe, expect, it } from 'vitest';
import { isJsonBody, JsonObjectsDecoder } from '../../../../src/upstreams/transport/json-objects-decoder.js';

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
