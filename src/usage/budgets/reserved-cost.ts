import { ServiceError } from '../../common/service-error.js';
import type { ModelConfig, PriceConfig, TokenPrices } from '../../config/config.js';

/** Providers count differently than the estimate, by up to about 10 %, and add some tokens for each message. */
const ESTIMATE_MARGIN = 1.2;
const TOKENS_PER_MESSAGE = 8;

/** Returns the most tokens that a prompt is expected to have at any provider. */
export function maxPromptTokens(estimated: number, messages: number): number {
  return Math.ceil(estimated * ESTIMATE_MARGIN) + TOKENS_PER_MESSAGE * (messages + 1);
}

/** Returns the most tokens of an answer without a limit. */
export function maxAnswerTokens({ contextLength, maxOutputTokens }: ModelConfig, prompt: number): number {
  return Math.max(1, Math.min(maxOutputTokens ?? Infinity, contextLength - prompt));
}

/**
 * Returns the most that a request can cost at any route of the model, in whole millionths of the currency unit.
 *
 * @throws {ServiceError} `model_not_priced` when a route has no price.
 */
export function maxMicros({ id, price, routes }: ModelConfig, prompt: number, answer: number): number {
  const costs = routes.map((route) => {
    const applied = route.price ?? price;
    if (applied === undefined) throw notPriced(id);
    return Math.max(...pricesOf(applied).map((prices) => costOf(prices, prompt, answer)));
  });
  return Math.ceil(Math.max(...costs));
}

function pricesOf({ longInput, ...usual }: PriceConfig): readonly TokenPrices[] {
  return longInput === undefined ? [usual] : [usual, longInput];
}

function costOf(prices: TokenPrices, prompt: number, answer: number): number {
  const input = Math.max(prices.inputPerMillion, prices.cacheWriteInputPerMillion ?? 0);
  const output = Math.max(prices.outputPerMillion, prices.reasoningOutputPerMillion ?? 0);
  return prompt * input + answer * output;
}

function notPriced(id: string): ServiceError {
  return new ServiceError('model_not_priced', `The model ${id} has no price, so your budget does not allow it.`, {
    details: [{ field: 'model', message: 'has no price' }],
  });
}
