import type { Type } from '@nestjs/common';
import type { Strategy } from 'passport';
import { BearerStrategy } from './bearer.strategy.js';
import { SessionStrategy } from './session.strategy.js';

/**
 * A way to authenticate: a provider that is a Passport strategy, such as a class made by `PassportStrategy` of @nestjs/passport,
 * and whose `validate` returns a `Principal`.
 */
export interface StrategyType extends Type<Strategy> {
  /** The name under which the strategy is registered with Passport, unique in the application. */
  readonly strategyName: string;
}

/** Asked in order; the first that knows the caller decides. One more is one file and one entry here. */
export const STRATEGIES: readonly StrategyType[] = [BearerStrategy, SessionStrategy];
