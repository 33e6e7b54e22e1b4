import type { ModelConfig } from '../../platform/config/config.js';

/**
 * A count is implausible above this multiple of the size of the model. The factor is wide for two reasons: providers that
 * search the web or run tools count the tokens of every round, and the configured context length may be too small.
 */
const PLAUSIBLE_FACTOR = 100;
/** The limit for a model of any size. The sum of millions of such counts is still exact. */
const MAX_TOKENS = 1_000_000_000;

/** Returns the highest plausible number of tokens, for a prompt as well as for an answer. */
export function maxPlausibleTokens({ contextLength, maxOutputTokens = contextLength }: ModelSize): number {
  return Math.min(MAX_TOKENS, PLAUSIBLE_FACTOR * (contextLength + maxOutputTokens));
}

export type ModelSize = Pick<ModelConfig, 'contextLength' | 'maxOutputTokens'>;
