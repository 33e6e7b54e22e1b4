import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  asArrived,
  encodeInSteps,
  isJsonLonger,
  joinedForJson,
  jsonSource,
  keepSources,
  rawJson,
  stringifyWithSources,
} from '../../../../../src/platform/common/json/json-source.js';

function parsed(text: string): Record<string, object> {
  const value = JSON.parse(text) as Record<string, object>;
  keepSources(text, value);
  return value;
}

const written = (text: string, name = 'input') => stringifyWithSources({ [name]: asArrived(parsed(text)[name] ?? {}) });

describe('the JSON text of arguments and schemas', () => {
  it.each([
    '{"id":2512292042121000001}',
    '{"a":1.0,"b":1e3,"c":-0,"d":0.1000000000000000055511151231257827}',
    '{"2":"x","1":"y","__proto__":{"a":1},"a":1,"a":2}',
    '{ "a" : [ 1.0 , { "b" : "\\"}{\\\\" } ] , "c" : "\\u00e9 € 🌧" }',
    '[1.0,{"a":1e2}]',
    '{}',
  ])('stays as it arrived: %s', (json) => {
    expect(written(`{"x":[{"input":{"n":1.0}},"]}"],"input":${json}}`)).toBe(`{"input":${json}}`);
    expect(jsonSource(parsed(`{"y":1,"input":${json}}`).input ?? {})).toBe(json);
  });

  it('is kept of inner members, by any spelling of their names', () => {
    const value = parsed('{"tools":[{"function":{"parameters":{"a":1.0}}}],"\\u0069nput":{"a":1.0}, "args" : {}}');
    expect(jsonSource(value.input ?? {})).toBe('{"a":1.0}');
  });

  it('is that of the value for an object that nobody has parsed', () => {
    expect(jsonSource({ a: 1 })).toBe('{"a":1}');
    expect(stringifyWithSources({ a: asArrived({ b: 1 }), c: rawJson('{"d":1.0}') })).toBe(
      '{"a":{"b":1},"c":{"d":1.0}}',
    );
  });

  it('is an equal value for any JSON', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(JSON.parse(written(`{"input":[${json}]}`))).toEqual(JSON.parse(`{"input":[${json}]}`));
      }),
    );
  });
});

describe('JSON that is made in steps', () => {
  const PIECE = 64 * 1024;

  it('is the same text as in one go, whatever is inside of a long text', async () => {
    const unit = fc.oneof(fc.constantFrom('"', '\\', '\n', 'é', '日', '😀', '\u2028'), fc.string({ unit: 'grapheme' }));
    const long = fc
      .tuple(unit, fc.integer({ min: 0, max: 3 }))
      .map(([text, shift]) => 'x'.repeat(shift) + `${text}😀`.repeat(Math.ceil((PIECE * 2.5) / (text.length + 2))));
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), long, async (other, text) => {
        const joined = joinedForJson([text, 'x', text]);
        const list = [undefined, joined, text, [], {}, rawJson('{"d":1.0}'), { deep: [{ text: `${text}y` }] }];
        const value = {
          other,
          missing: undefined,
          list,
          raw: asArrived({ a: 1 }),
          ['__proto__']: 1,
          short: { a: 1, b: null },
        };
        expect(Buffer.concat(await encodeInSteps(value)).toString()).toBe(stringifyWithSources(value));
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    ['short', ['a', '', 'b"']],
    ['long', ['é'.repeat(PIECE), '', '\n"', '😀'.repeat(PIECE)]],
  ])('has %s texts as one, each on a line of its own', async (_, texts) => {
    const value = { content: joinedForJson(texts) };
    const json = JSON.stringify({ content: texts.join('\n') });
    expect(Buffer.concat(await encodeInSteps(value)).toString()).toBe(json);
    expect(stringifyWithSources(value)).toBe(json);
  });

  it('is measured only up to a bound', () => {
    const value = { a: ['x'.repeat(10)], b: rawJson('{"c":1.0}') };
    const { length } = stringifyWithSources(value);
    expect([isJsonLonger(value, length), isJsonLonger(value, length - 1)]).toEqual([false, true]);
  });
});
