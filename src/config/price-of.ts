import type { PriceConfig, TokenPrices } from './config.js';
import type { PriceEntry } from './sources/config-file.js';

/** Converts a price of CONFIG_FILE. `undefined`: the file gives no price. */
export function priceOf(entry: PriceEntry | undefined, currency: string): PriceConfig | undefined {
  if (entry === undefined) return undefined;
  const { long_input: long } = entry;
  return {
    ...pricesOf(entry),
    currency,
    longInput: long && { ...pricesOf(long), aboveInputTokens: long.above_input_tokens },
  };
}

function pricesOf(entry: Omit<PriceEntry, 'long_input'>): TokenPrices {
  return {
    inputPerMillion: entry.input_per_million,
    cachedInputPerMillion: entry.cached_input_per_million,
    cacheWriteInputPerMillion: entry.cache_write_input_per_million,
    outputPerMillion: entry.output_per_million,
    reasoningOutputPerMillion: entry.reasoning_output_per_million,
  };
}
