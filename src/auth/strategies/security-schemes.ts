import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from '../../http/open-api/defined-errors.js';
import type { StrategyType } from './all-strategies.js';

/** Adds the security schemes of plugins to the OpenAPI document, for every operation that needs a credential. */
export function describeStrategies(document: OpenAPIObject, strategies: readonly StrategyType[]): void {
  for (const { strategyName, securityScheme } of strategies) {
    if (securityScheme === undefined) continue;
    document.components = {
      ...document.components,
      securitySchemes: { ...document.components?.securitySchemes, [strategyName]: securityScheme },
    };
    for (const operation of operationsOf(document)) {
      // The operations of one controller share their list, so a new list replaces the shared one.
      if (operation.security !== undefined) operation.security = [...operation.security, { [strategyName]: [] }];
    }
  }
}
