import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { TierConfig } from '../config/config.js';
import type { TokenDemand } from './limit-store.js';

export const LIMITED_BY_TIER = Symbol('LIMITED_BY_TIER');

/** Returns the tokens that a request may use. The body is parsed, but not validated. An invalid body needs no tokens. */
export type TokensOf = (body: unknown, tier: TierConfig) => TokenDemand;

const NO_TOKENS: TokenDemand = { atLeast: 0, atMost: 0 };

/** For routes whose requests use no tokens. An account without remaining tokens may still use these routes. */
export const usesNoTokens: TokensOf = () => NO_TOKENS;

/**
 * Counts requests to this route, or to all routes of a controller, against the limits of the account's tier.
 *
 * @param tokensOf returns the tokens that a request may use. By default, requests use no tokens.
 */
export const LimitedByTier = (tokensOf: TokensOf = usesNoTokens): CustomDecorator<symbol> =>
  SetMetadata(LIMITED_BY_TIER, tokensOf);
