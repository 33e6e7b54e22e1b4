import type { PriceConfig } from '../../config/config.js';
import type { TokenCount } from './usage-record.js';

/** Whole millionths of the currency's unit: prices are per million tokens, so a token costs that many of them. */
export function costMicrosOf(
  price: PriceConfig | undefined,
  prompt: TokenCount,
  completion: TokenCount,
): number | undefined {
  if (price === undefined || prompt.count === undefined || completion.count === undefined) return undefined;
  return Math.round(prompt.count * price.inputPerMillion + completion.count * price.outputPerMillion);
}
