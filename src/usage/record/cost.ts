import type { PriceConfig } from '../../config/config.js';
import type { TokenCount } from './usage-record.js';

/**
 * Returns the cost in whole millionths of the currency unit. `undefined`: no price, or unknown tokens. A price is per
 * million tokens, so the price is also the cost of one token in millionths.
 */
export function costMicrosOf(
  price: PriceConfig | undefined,
  prompt: TokenCount,
  completion: TokenCount,
): number | undefined {
  if (price === undefined || prompt.count === undefined || completion.count === undefined) return undefined;
  return Math.round(prompt.count * price.inputPerMillion + completion.count * price.outputPerMillion);
}
