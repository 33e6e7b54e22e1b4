import type { Type } from '@nestjs/common';
import { BearerStrategy } from './bearer.strategy.js';
import { SessionStrategy } from './session.strategy.js';

/**
 * A way to authenticate: a provider that registers a passport strategy under `strategyName`, as `PassportStrategy` of
 * @nestjs/passport does, and whose `validate` gives a `Principal`.
 */
export interface StrategyType extends Type {
  readonly strategyName: string;
}

/** Asked in order; the first that knows the caller decides. One more is one file and one entry here. */
export const STRATEGIES: readonly StrategyType[] = [BearerStrategy, SessionStrategy];
