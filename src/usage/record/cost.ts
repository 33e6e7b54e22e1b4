import type { AppliedPrice, PriceConfig, TokenPrices } from '../../platform/config/config.js';
import type { UsageRecord } from './usage-record.js';

/** The members of a record that decide its cost. */
type PricedTokens = Pick<
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
 * of one token in millionths. `undefined`: there is no price, or no count is known. Next to a known count, an unknown one costs
 * nothing.
 *
 * Tokens whose kind the provider does not report count as ordinary input or output, and so do tokens whose kind has no price.
 */
export function costMicrosOf(price: TokenPrices | undefined, tokens: PricedTokens): number | undefined {
  const { inputTokens, outputTokens } = tokens;
  const {
    cachedInputTokens: cached = 0,
    cacheWriteInputTokens: written = 0,
    reasoningOutputTokens: reasoning = 0,
  } = tokens;
  if (price === undefined || (inputTokens.count === undefined && outputTokens.count === undefined)) return undefined;
  const { inputPerMillion, outputPerMillion } = price;
  const fresh = Math.max(0, (inputTokens.count ?? 0) - cached - written);
  const text = Math.max(0, (outputTokens.count ?? 0) - reasoning);
  return Math.round(
    fresh * inputPerMillion +
      cached * (price.cachedInputPerMillion ?? inputPerMillion) +
      written * (price.cacheWriteInputPerMillion ?? inputPerMillion) +
      text * outputPerMillion +
      reasoning * (price.reasoningOutputPerMillion ?? outputPerMillion),
  );
}
