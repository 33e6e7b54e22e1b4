import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonExcess, type JsonBounds } from '../../../../../src/platform/common/json/json-bounds.js';
import { PROPERTY_RUNS } from '../../../../support/property-runs.js';

const NO_BOUNDS: JsonBounds = { values: Infinity, depth: Infinity };
const excess = (text: string, bounds: Partial<JsonBounds>) => jsonExcess(text, { ...NO_BOUNDS, ...bounds });

/** The number of values between objects and arrays with more than one member or item, plus all objects and arrays. */
function measure(value: unknown): JsonBounds {
  if (typeof value !== 'object' || value === null) return { values: 0, depth: 0 };
  const inner = Object.values(value).map(measure);
  return {
    values: 1 + Math.max(0, inner.length - 1) + inner.reduce((sum, { values }) => sum + values, 0),
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
  };
}

const unit = fc.constantFrom('x', '"', '\\', '{', '[', ',', ':', '}', ']', '\t', 'é', '😀');
const text = fc.string({ unit, maxLength: 90 });
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.oneof(text, fc.double(), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('json'), { maxLength: 6 }),
    fc.dictionary(text, tie('json'), { maxKeys: 6, noNullPrototype: true }),
  ),
}));

describe('the bounds of JSON', () => {
  it('are exceeded exactly where the parsed value exceeds them, whatever its strings contain', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(0, 1, '\t'), (value, space) => {
        const written = JSON.stringify(value, undefined, space);
        const { values, depth } = measure(JSON.parse(written));
        expect(excess(written, { values, depth })).toBeUndefined();
        if (values > 0) expect(excess(written, { values: values - 1 })?.bound).toBe('values');
        if (depth > 0) expect(excess(written, { depth: depth - 1 })?.bound).toBe('depth');
      }),
      { numRuns: PROPERTY_RUNS },
    );
  });

  it.each<[string, Partial<JsonBounds>, string[]]>([
    ['{"a":1,"messages":[{},{},{},{}]}', { values: 5 }, ['messages']],
    ['{"a":[1,{"b":[1,2,3,4,5,6,7]}]}', { values: 8 }, ['a', '1', 'b']],
    ['[1,2,3,4]', { values: 3 }, []],
    ['{"a":1,"b":2,"c":3}', { values: 2 }, []],
    ['{"a":[[],[[]]]}', { depth: 3 }, ['a', '1', '0']],
    ['[[[[', { depth: 3 }, ['0', '0', '0']],
    [String.raw`{"a\"b":[[]]}`, { depth: 2 }, ['a"b', '0']],
    [String.raw`{"\x":[[]]}`, { depth: 2 }, [String.raw`"\x"`, '0']],
  ])('name the path in %s', (written, bounds, path) => {
    expect(excess(written, bounds)?.path).toEqual(path);
  });

  it.each(['"never ends', '["', '"\\', '"\\"', '}]', ',', '', '{]:"'])(
    'accept %j, which the parser refuses',
    (written) => {
      expect(excess(written, { values: 5, depth: 5 })).toBeUndefined();
    },
  );

  it('are checked in anything that is not JSON', () => {
    const structure = fc.string({
      unit: fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', '1', ' '),
      maxLength: 60,
    });
    fc.assert(
      fc.property(structure, (written) => {
        excess(written, { values: 20, depth: 3 });
      }),
      { numRuns: PROPERTY_RUNS },
    );
  });
});
