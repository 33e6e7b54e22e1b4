import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonSource } from '../../../../../../src/platform/common/json/json-source.js';
import { JsonExcessError, parseLongJson } from '../../../../../../src/platform/http/body/json/parse-long-json.js';

const BOUNDS = { values: 1_000, depth: 32 };
const PIECE = 256 * 1024;
const parse = (text: string, bounds = BOUNDS) => parseLongJson(Buffer.from(text), bounds);

describe('a long JSON body that is parsed in steps', () => {
  it('has the same value as in one go, whatever is inside of a long text', async () => {
    const unit = fc.oneof(fc.constantFrom('"', '\\', '\\\\"', '\n', 'é', '日', '😀', '\u2028', '\ud83d'), fc.string());
    const long = fc
      .tuple(unit, fc.integer({ min: 0, max: 9 }))
      .map(([text, shift]) => 'x'.repeat(shift) + `${text}-`.repeat(Math.ceil((PIECE * 1.5) / (text.length + 1))));
    await fc.assert(
      fc.asyncProperty(long, fc.jsonValue({ maxDepth: 2 }), fc.boolean(), async (text, other, isSpaced) => {
        const value = { a: [other, { text, b: [text] }, []], ['__proto__']: 1, c: {} };
        const json = JSON.stringify(value, null, isSpaced ? 1 : 0);
        expect(await parse(json, { values: 100_000, depth: 32 })).toEqual(JSON.parse(json));
      }),
      { numRuns: 30 },
    );
  });

  it('has the last of two members with the same name, and characters that are written as escapes', async () => {
    const text = '\\ud83d\\ude00\\u00e9\\"'.repeat(PIECE / 8);
    const json = `{"a":"${text}","a":"${text}b"}`;
    expect(await parse(json)).toEqual(JSON.parse(json));
  });

  const x = `"${'x'.repeat(PIECE)}"`;
  it('keeps the texts of arguments and schemas, which have more digits than a number can hold', async () => {
    const args = '{"id": 2512292042121000001}';
    const long = `{"id": 2512292042121000001,"text":${x}}`;
    const value = await parse(`{"a":${x},"input":${args},"b":[{"schema":${args}},${x},{"input":${long}}]}`);
    const { input, b } = value as { input: object; b: [{ schema: object }, string, { input: object }] };
    expect([input, b[0].schema, b[2].input].map(jsonSource)).toEqual([args, args, long]);
  });

  it.each(
    [`{"a":${x}`, `[${x}`, `{"a":${x},}`, `[${x},]`, `{"a" ${x}}`, `{a:${x}}`, `[${x}] 1`, `[${x} 1]`, `{"a":${x}]`]
      .concat([`["${'x'.repeat(PIECE)}`, `["${'\\x'.repeat(PIECE)}"]`, `[${x},tru]`, `[${x},01]`, '['.repeat(20), ''])
      .map((json) => [json.slice(0, 6), json.slice(-6), json] as const),
  )('is refused if it is not JSON: %s…%s', async (_, _end, json) => {
    await expect(parse(json)).rejects.toThrow(SyntaxError);
  });

  it('is refused above its bounds', async () => {
    await expect(parse(`[${x},${'0,'.repeat(1_000)}0]`)).rejects.toEqual(new JsonExcessError('values'));
    await expect(parse(`[${x},${'['.repeat(32)}${']'.repeat(32)}]`)).rejects.toEqual(new JsonExcessError('depth'));
  });
});
