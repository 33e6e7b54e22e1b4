import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonScanner, type JsonExcess, type JsonLimits } from '../../../src/http/body/json/json-scanner.js';

const NO_LIMITS: JsonLimits = { values: Infinity, depth: Infinity, nameBytes: Infinity };

/** The scanner's verdict on a text that arrives in pieces of these sizes, again and again. */
function scan(text: string | Buffer, limits: Partial<JsonLimits>, sizes: readonly number[] = [65_536]) {
  const scanner = new JsonScanner({ ...NO_LIMITS, ...limits });
  const bytes = Buffer.from(text as string);
  for (let start = 0, turn = 0; start < bytes.length; turn++) {
    const end = start + (sizes[turn % sizes.length] ?? 1);
    const excess = scanner.scan(bytes.subarray(start, end));
    if (excess !== undefined) return { ...excess, names: namesIn(bytes, excess) };
    start = end;
  }
  return undefined;
}

function namesIn(bytes: Buffer, { path }: JsonExcess): (string | number)[] {
  return path.map((step) => (typeof step === 'number' ? step : bytes.toString('utf8', step.start, step.end)));
}

/** What the scanner must find, counted in the parsed value. Names are short of escapes here. */
function measure(value: unknown): JsonLimits {
  if (typeof value !== 'object' || value === null) return { values: 1, depth: 0, nameBytes: 0 };
  const inner = Object.values(value).map(measure);
  const names = Array.isArray(value) ? [] : Object.keys(value).map((name) => JSON.stringify(name).length - 2);
  return {
    values: 1 + inner.reduce((sum, { values }) => sum + values, 0),
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    nameBytes: Math.max(0, ...names, ...inner.map(({ nameBytes }) => nameBytes)),
  };
}

const name = fc.string({ unit: fc.constantFrom('a', 'b', '"', '\\', '{', ']', ',', ':', '\n'), maxLength: 12 });
const text = fc.string({
  unit: fc.constantFrom('x', '"', '\\', '{', '[', ',', ':', '}', '\t', 'é', '😀'),
  maxLength: 90,
});
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.oneof(text, fc.double(), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('json'), { maxLength: 6 }),
    fc.dictionary(name, tie('json'), { maxKeys: 6, noNullPrototype: true }),
  ),
}));
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 });
const indent = fc.constantFrom(0, 1, '\t');

describe('the scanner of JSON', () => {
  it('finds an excess exactly where there is one, however the text is cut into pieces', () => {
    fc.assert(
      fc.property(json, indent, sizes, (value, space, cuts) => {
        const written = JSON.stringify(value, undefined, space);
        const { values, depth, nameBytes } = measure(JSON.parse(written));
        expect(scan(written, { values, depth, nameBytes }, cuts)).toBeUndefined();
        expect(scan(written, { values: values - 1 }, cuts)?.limit).toBe('values');
        if (depth > 0) expect(scan(written, { depth: depth - 1 }, cuts)?.limit).toBe('depth');
        if (nameBytes > 0) expect(scan(written, { nameBytes: nameBytes - 1 }, cuts)?.limit).toBe('nameBytes');
      }),
      { numRuns: 1000 },
    );
  });

  it('says the same whatever the pieces are', () => {
    fc.assert(
      fc.property(json, fc.integer({ min: 1, max: 30 }), sizes, (value, limit, cuts) => {
        const written = JSON.stringify(value);
        const limits = { values: limit, depth: limit % 4, nameBytes: limit % 7 };
        const [whole, cut] = [scan(written, limits), scan(written, limits, cuts)];
        // A name that is too long may be cut where its piece ends.
        expect(cut?.limit).toBe(whole?.limit);
        if (whole?.limit !== 'nameBytes') expect(cut?.names).toEqual(whole?.names);
      }),
    );
  });

  it.each<[string, Partial<JsonLimits>, (string | number)[]]>([
    ['{"a":1,"messages":[{},{},{},{}]}', { values: 5 }, ['messages']],
    ['{"a":[1,{"b":[1,2,3,4,5,6,7]}]}', { values: 8 }, ['a', 1, 'b']],
    ['[1,2,3,4]', { values: 3 }, []],
    ['{"a":1,"b":2,"c":3}', { values: 2 }, []],
    ['{"a":[[],[[]]]}', { depth: 3 }, ['a', 1, 0]],
    ['[[[[', { depth: 3 }, [0, 0, 0]],
    ['{"a":[1,{"long":1}]}', { nameBytes: 3 }, ['a', 1, 'long']],
    ['{"a":1,"b":{"c":2},"ddd":1}', { nameBytes: 2 }, ['ddd']],
  ])('says where the excess of %s is', (written, limits, path) => {
    expect(scan(written, limits)?.names).toEqual(path);
  });

  it('notices a long name before its end', () => {
    expect(scan(`{"${'n'.repeat(300)}`, { nameBytes: 200 }, [64])?.limit).toBe('nameBytes');
  });

  it('does not fail at what is not JSON', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), sizes, (bytes, cuts) => {
        scan(Buffer.from(bytes), { values: 20, depth: 3, nameBytes: 5 }, cuts);
      }),
    );
    const structure = fc.string({
      unit: fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', '1', ' '),
      maxLength: 60,
    });
    fc.assert(
      fc.property(structure, sizes, (written, cuts) => {
        scan(written, { values: 20, depth: 3, nameBytes: 5 }, cuts);
      }),
      { numRuns: 2000 },
    );
  });
});
