import fc from 'fast-check';
import { ORDINARY_TEXTS } from './ordinary-texts.js';

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const EMOJI = [...Array.from('😀🎉👍🚀🔥✅🙏❤🌍🐶🍕⚽🎸💡📚🔒🦊🧠'), '👍🏽', '👩‍💻', '🇩🇪'];
/** Characters by the length of their texts: from usual ones to rare ones, and from all planes. */
const RANGES: readonly (readonly [number, number])[] = [
  [0x20, 0x7e],
  [0xa1, 0x17f],
  [0x4e00, 0x9fa5],
  [0xac00, 0xd7a3],
  [0x3041, 0x30ff],
  [0x410, 0x44f],
  [0x20, 0xd7ff],
  [0x1f300, 0x1faff],
  [0x10000, 0x1ffff],
];

const drawn = (characters: readonly string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...characters), { minLength: 100, maxLength: 400 }).map((some) => some.join(''));

const schema = fc
  .dictionary(
    fc.stringMatching(/^[a-z]{3,12}(_[a-z]{3,8})?$/),
    fc.record({
      type: fc.constantFrom('string', 'integer', 'array', 'object'),
      description: fc.constantFrom(...Object.values(ORDINARY_TEXTS).map((text) => text.slice(0, 80))),
      enum: fc.array(fc.constantFrom('celsius', 'fahrenheit', 'metric', 'imperial'), { maxLength: 3 }),
    }),
    { minKeys: 3, maxKeys: 20, noNullPrototype: true },
  )
  .map((properties) => ({ type: 'object', properties, required: Object.keys(properties) }));

/** A JSON Schema as tools have them. */
export const schemas: fc.Arbitrary<Readonly<Record<string, unknown>>> = schema;

/** Any text that a caller may send to look shorter than it is: prose, code, white space, single characters, and random ones. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...Object.values(ORDINARY_TEXTS)),
  fc
    .tuple(fc.constantFrom(' ', '\n', '\t', '=', '-'), fc.integer({ min: 100, max: 3_000 }))
    .map(([one, n]) => one.repeat(n)),
  fc
    .tuple(
      fc.constantFrom(...Array.from('aeX7漢中的한あж!'), '😀', 'word', 'the ', '1 '),
      fc.integer({ min: 100, max: 2_000 }),
    )
    .map(([one, n]) => one.repeat(n)),
  drawn(Array.from(BASE64)),
  drawn(EMOJI),
  fc
    .constantFrom(...RANGES)
    .chain(([min, max]) =>
      fc.array(
        fc.integer({ min, max }).filter((code) => code < 0xd800 || code > 0xdfff),
        { minLength: 100, maxLength: 400 },
      ),
    )
    .map((codes) => String.fromCodePoint(...codes)),
  fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 50, maxLength: 200 }).map((words) => words.join(' ')),
  schema.map((value) => JSON.stringify(value)),
);
