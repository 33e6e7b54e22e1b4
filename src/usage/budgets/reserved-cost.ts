import { ServiceError } from '../../platform/common/service-error.js';
import type { ModelConfig, PriceConfig, TokenPrices } from '../../platform/config/config.js';

/** What a completion can cost at most, by the tokens of its answer. */
export interface CostBound {
  /** The most tokens of the answer. */
  readonly answer: number;
  /** Whether the client has asked for so many. Otherwise the answer may get fewer, see `SpendBudgets.reserve`. */
  readonly isRequested: boolean;
  /** Returns the most that the completion can cost with so many tokens of the answer, in whole millionths of the currency unit. */
  microsOf(answer: number): number;
  /** Returns the most tokens that the answer can have for so many millionths. Below 1, the prompt alone costs more. */
  answerFor(micros: number): number;
}

/** Whether a caller with a budget may use the model: each of its routes has a price. */
export function isPriced({ price, routes }: Pick<ModelConfig, 'price' | 'routes'>): boolean {
  return routes.every((route) => (route.price ?? price) !== undefined);
}

/**
 * Returns what a completion can cost at any route of the model.
 *
 * @param prompt the most tokens of the prompt.
 * @throws {ServiceError} `model_not_priced` when a route has no price.
 */
export function costBound(
  { id, price, routes }: ModelConfig,
  prompt: number,
  answer: number,
  isRequested: boolean,
): CostBound {
  const bounds = routes.flatMap((route) => {
    const applied = route.price ?? price;
    if (applied === undefined) throw notPriced(id);
    return pricesOf(applied, prompt).map(highestOf);
  });
  return {
    answer,
    isRequested,
    microsOf: (tokens) => Math.ceil(Math.max(...bounds.map(({ input, output }) => prompt * input + tokens * output))),
    answerFor: (micros) =>
      Math.floor(Math.min(...bounds.map(({ input, output }) => tokensFor(micros - prompt * input, output)))),
  };
}

/** Returns the highest number of tokens for this money. Free tokens cost nothing, but only if the rest is paid. */
function tokensFor(micros: number, perToken: number): number {
  if (micros < 0) return 0;
  return perToken === 0 ? Number.MAX_SAFE_INTEGER : micros / perToken;
}

/** A prompt that is short for sure does not get the price of long ones. */
function pricesOf({ longInput, ...usual }: PriceConfig, prompt: number): readonly TokenPrices[] {
  return longInput === undefined || prompt <= longInput.aboveInputTokens ? [usual] : [usual, longInput];
}

function highestOf(prices: TokenPrices): { readonly input: number; readonly output: number } {
  return {
    input: Math.max(prices.inputPerMillion, prices.cachedInputPerMillion ?? 0, prices.cacheWriteInputPerMillion ?? 0),
    output: Math.max(prices.outputPerMillion, prices.reasoningOutputPerMillion ?? 0),
  };
}

function notPriced(id: string): ServiceError {
  return new ServiceError('model_not_priced', `The model ${id} has no price, so your budget does not allow it.`, {
    details: [{ field: 'model', message: 'has no price' }],
  });
}
