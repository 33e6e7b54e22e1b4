import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonBody } from '../../../../../../src/platform/http/body/json/parse-json-body.js';

const BOUNDS = { values: 100_000, depth: 100 };

const text = fc
  .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }), fc.integer({ min: 1, max: 30_000 }))
  .map(([part, count]) => part.repeat(count));

describe('a JSON body', () => {
  it('is the same value as the parser returns, short or long', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), text, async (value, long) => {
        const written = JSON.stringify({ value, long });
        expect(await parseJsonBody(Buffer.from(written), BOUNDS)).toEqual(JSON.parse(written));
      }),
    );
  });

  it('is checked to be UTF-8 in steps that end between characters', async () => {
    const long = 'é日😀'.repeat(600_000);
    for (const shift of ['', 'x', 'xx', 'xxx']) {
      const bytes = Buffer.from(JSON.stringify({ a: shift + long }));
      expect(await parseJsonBody(bytes, BOUNDS)).toEqual({ a: shift + long });
      // A byte in the middle is no longer part of its character.
      bytes[bytes.length - 3_000_000] = 0xff;
      await expect(parseJsonBody(bytes, BOUNDS)).rejects.toMatchObject({ code: 'invalid_request' });
    }
  });

  it('may begin with a byte order mark', async () => {
    expect(await parseJsonBody(Buffer.from('\ufeff{"a":1}'), BOUNDS)).toEqual({ a: 1 });
  });

  it.each([
    ['UTF-8', Buffer.from([0x22, 0xe4, 0xb8, 0x22])],
    ['whole', Buffer.from('{"a":"中')],
    ['whole UTF-8', Buffer.from('"中"').subarray(0, 3)],
    ['JSON', Buffer.from('{a:1}')],
    ['there', Buffer.alloc(0)],
  ])('that is not %s is refused', async (_, bytes) => {
    const long = Buffer.concat([Buffer.from('['), Buffer.alloc(300_000, ' '), bytes]);
    for (const body of [bytes, long]) {
      await expect(parseJsonBody(body, BOUNDS)).rejects.toMatchObject({ code: 'invalid_request' });
    }
  });

  it.each([
    [
      '[1,2,3,4]',
      { values: 2, depth: 9 },
      'body',
      'has too many members or items: the body can have at most 2 in total',
    ],
    ['{"a":[[1]]}', { values: 9, depth: 2 }, 'a.0', 'is nested too deeply: the body can have at most 2 levels'],
  ])('that exceeds a bound is refused before it is parsed: %s', async (written, bounds, field, message) => {
    await expect(parseJsonBody(Buffer.from(`${written}not JSON`), bounds)).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ field, message }],
    });
  });
});
