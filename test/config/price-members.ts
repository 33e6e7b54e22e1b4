import { expect } from 'vitest';
import type { UsageRecord } from '../../src/usage/record/usage-record.js';
import { stream } from '../support/sse-client.js';
import { serving, type Effect, type Effects } from './effect.js';

/** 50 fresh, 40 cached and 10 written tokens of the prompt; 30 tokens of text and 20 of reasoning. */
const USAGE = {
  prompt_tokens: 100,
  prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
  completion_tokens: 50,
  completion_tokens_details: { reasoning_tokens: 20 },
  total_tokens: 150,
};
const TOKENS = {
  input_per_million: 50,
  cached_input_per_million: 40,
  cache_write_input_per_million: 10,
  output_per_million: 30,
  reasoning_output_per_million: 20,
};
type Kind = keyof typeof TOKENS;
const FREE = Object.fromEntries(Object.keys(TOKENS).map((kind) => [kind, 0]));
const OTHERS = { input_per_million: 7, output_per_million: 7 };

/** Where CONFIG_FILE has a price, and the options that put a price there. */
const PLACES = {
  'models[].price': (price?: object) => ({ model: { price } }),
  'models[].routes[].price': (price?: object) => ({ model: { price: undefined }, route: { price } }),
};
type Placed = (typeof PLACES)[keyof typeof PLACES];

/** The members of a price: the usage record of a stream shows their effect. */
export const priceMembers: Effects = Object.fromEntries(
  Object.entries(PLACES).flatMap(([place, placed]) => [
    ...kindsAt(`${place}.`, placed, (prices) => prices),
    ...kindsAt(`${place}.long_input.`, placed, (prices) => ({
      ...OTHERS,
      long_input: { above_input_tokens: 99, ...prices },
    })),
    [`${place}.long_input.above_input_tokens`, limitAt(placed)] as const,
  ]),
);

function kindsAt(prefix: string, placed: Placed, within: (prices: object) => object): [string, Effect][] {
  const kinds = Object.entries(TOKENS) as [Kind, number][];
  return kinds.map(([kind, tokens]) => {
    const isRequired = kind === 'input_per_million' || kind === 'output_per_million';
    return [
      `${prefix}${kind}`,
      {
        set: () => costs(placed(within({ ...FREE, [kind]: 2 })), 2 * tokens),
        unset: () =>
          isRequired ? costs(placed(), undefined) : costs(placed(within({ ...FREE, [kind]: undefined })), 0),
        refused: [
          [-1, 'expected number to be >=0'],
          [1_000_001, 'expected number to be <=1000000'],
          ...(isRequired ? [[undefined, 'expected number'] as const] : []),
        ],
      },
    ];
  });
}

function limitAt(placed: Placed): Effect {
  const prices = (above: number) => ({
    ...FREE,
    long_input: { ...FREE, input_per_million: 2, above_input_tokens: above },
  });
  return {
    set: async () => {
      await costs(placed(prices(99)), 100);
      await costs(placed(prices(100)), 0);
    },
    unset: () => costs(placed(FREE), 0),
    refused: [
      [0, 'expected number to be >=1'],
      [undefined, 'expected number'],
    ],
  };
}

/** The cost of one stream, in millionths. */
async function costs(options: ReturnType<Placed>, expected: number | undefined): Promise<void> {
  const records: UsageRecord[] = [];
  await serving({ ...options, records }, async ({ origin, key, provider }) => {
    provider.answers((call) => {
      const usage = `data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\n`;
      call.head().text('Hello').finish().write(usage).endMarker().end();
    });
    await stream(origin, { key });
  });
  expect(records.map(({ costMicros }) => costMicros)).toEqual([expected]);
}
