import type { AppliedPrice, PriceConfig, TokenPrices } from '../../config/config.js';
import type { UsageRecord } from './usage-record.js';

/** The members of a record that decide its cost. */
export type PricedTokens = Pick<
  UsageRecord,
  'inputTokens' | 'cachedInputTokens' | 'cacheWriteInputTokens' | 'outputTokens' | 'reasoningOutputTokens'
>;

/** Returns the prices for a prompt of this size. */
export function appliedPrice(
  price: PriceConfig | undefined,
  { inputTokens }: Pick<PricedTokens, 'inputTokens'>,
): AppliedPrice | undefined {
  if (price === undefined) return undefined;
  const { longInput, currency } = price;
  const isLong = longInput !== undefined && (inputTokens.count ?? 0) > longInput.aboveInputTokens;
  const prices = isLong ? longInput : price;
  return {
    inputPerMillion: prices.inputPerMillion,
    cachedInputPerMillion: prices.cachedInputPerMillion,
    cacheWriteInputPerMillion: prices.cacheWriteInputPerMillion,
    outputPerMillion: prices.outputPerMillion,
    reasoningOutputPerMillion: prices.reasoningOutputPerMillion,
    currency,
  };
}

/**
 * Returns the cost in whole millionths of the currency unit. A price is per million tokens, so the price is also the cost
 * of one token in millionths. `undefined`: a number of tokens is unknown, or there is no price for a kind of token.
 *
 * Tokens whose kind the provider does not report count as ordinary input or output.
 */
export function costMicrosOf(price: TokenPrices | undefined, tokens: PricedTokens): number | undefined {
  const {
    inputTokens,
    cachedInputTokens = 0,
    cacheWriteInputTokens = 0,
    outputTokens,
    reasoningOutputTokens = 0,
  } = tokens;
  if (price === undefined || inputTokens.count === undefined || outputTokens.count === undefined) return undefined;
  const cached = cost(cachedInputTokens, price.cachedInputPerMillion);
  const written = cost(cacheWriteInputTokens, price.cacheWriteInputPerMillion);
  if (cached === undefined || written === undefined) return undefined;
  const fresh = (inputTokens.count - cachedInputTokens - cacheWriteInputTokens) * price.inputPerMillion;
  const text = (outputTokens.count - reasoningOutputTokens) * price.outputPerMillion;
  const reasoning = reasoningOutputTokens * (price.reasoningOutputPerMillion ?? price.outputPerMillion);
  return Math.round(fresh + cached + written + text + reasoning);
}

function cost(tokens: number, perMillion: number | undefined): number | undefined {
  if (tokens === 0) return 0;
  return perMillion === undefined ? undefined : tokens * perMillion;
}
