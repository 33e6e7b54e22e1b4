import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonBody } from '../../../src/http/body/json/json-body.js';

const LIMITS = { values: 100_000, depth: 100, nameBytes: 1_000 };

async function parse(bytes: Buffer, sizes: readonly number[]): Promise<unknown> {
  const body = new JsonBody(LIMITS);
  for (let start = 0, turn = 0; start < bytes.length; turn++) {
    const end = start + (sizes[turn % sizes.length] ?? 1);
    // Node gives a piece of memory that it may use again for others.
    body.add(Buffer.from(bytes.subarray(start, end)));
    start = end;
  }
  return body.value();
}

const sizes = fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 5 });
const text = fc
  .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }), fc.integer({ min: 1, max: 30_000 }))
  .map(([part, count]) => part.repeat(count));

describe('a JSON body', () => {
  it('is what the parser makes of the whole text, however it arrives, short or long', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), text, sizes, async (value, long, cuts) => {
        const written = JSON.stringify({ value, long });
        expect(await parse(Buffer.from(written), cuts)).toEqual(JSON.parse(written));
      }),
    );
  });

  it.each([
    ['UTF-8', Buffer.from([0x22, 0xe4, 0xb8, 0x22])],
    ['whole', Buffer.from('{"a":"中')],
    ['whole UTF-8', Buffer.from('"中"').subarray(0, 3)],
    ['JSON', Buffer.from('{a:1}')],
    ['there', Buffer.alloc(0)],
  ])('that is not %s is refused', async (_, bytes) => {
    for (const size of [1, 1_000]) {
      await expect(parse(bytes, [size])).rejects.toMatchObject({ code: 'invalid_request' });
      const long = Buffer.concat([Buffer.from('['), Buffer.alloc(300_000, ' '), bytes]);
      await expect(parse(long, [size * 1000])).rejects.toMatchObject({ code: 'invalid_request' });
    }
  });
});
