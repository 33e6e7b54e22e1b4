import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { TierConfig } from '../config/config.js';
import type { TokenDemand } from './limit-store.js';

export const LIMITED_BY_TIER = Symbol('LIMITED_BY_TIER');

/** Tells what a request may come to use. The body is as it was parsed, and may be wrong: a wrong one needs nothing. */
export type TokensOf = (body: unknown, tier: TierConfig) => TokenDemand;

const NO_TOKENS: TokenDemand = { atLeast: 0, atMost: 0 };

/** For routes whose requests use no tokens: an account whose tokens are spent may still use them. */
export const usesNoTokens: TokensOf = () => NO_TOKENS;

/**
 * A request to this route, or to all of a controller, counts against the limits of the account's tier.
 *
 * @param tokensOf for routes whose requests use tokens; by default none.
 */
export const LimitedByTier = (tokensOf: TokensOf = usesNoTokens): CustomDecorator<symbol> =>
  SetMetadata(LIMITED_BY_TIER, tokensOf);
