import type { Type } from '@nestjs/common';
import type { Strategy } from 'passport';
import { BearerStrategy } from './bearer.strategy.js';
import { SessionStrategy } from './session.strategy.js';

/**
 * A way to authenticate: an injectable Passport strategy whose `validate` returns a `Principal`. An example is a class that
 * extends `PassportStrategy` of @nestjs/passport.
 */
export interface StrategyType extends Type<Strategy> {
  /** The name under which the strategy is registered with Passport, unique in the application. */
  readonly strategyName: string;
}

/** Run in this order. The first strategy that knows the caller decides. A new strategy needs one file and one entry here. */
export const STRATEGIES: readonly StrategyType[] = [BearerStrategy, SessionStrategy];
