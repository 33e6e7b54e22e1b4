import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from '../../http/open-api/defined-errors.js';
import { OPERATOR_SECURITY } from '../../http/open-api/api-decorators.js';
import type { StrategyType } from './all-strategies.js';

type SchemeObject = NonNullable<NonNullable<OpenAPIObject['components']>['securitySchemes']>[string];

/** Adds the security schemes of plugins to the OpenAPI document, for every operation that needs a credential. */
export function describeStrategies(document: OpenAPIObject, strategies: readonly StrategyType[]): void {
  for (const { strategyName, securityScheme } of strategies) {
    if (securityScheme === undefined) continue;
    // The library lacks the type mutualTLS, which OpenAPI has.
    document.components = {
      ...document.components,
      securitySchemes: { ...document.components?.securitySchemes, [strategyName]: securityScheme as SchemeObject },
    };
    for (const operation of operationsOf(document)) {
      const { security } = operation;
      // Operations for operators accept only operator keys.
      if (security === undefined || security.some((scheme) => OPERATOR_SECURITY in scheme)) continue;
      // The operations of one controller share their list, so a new list replaces the shared one.
      operation.security = [...security, { [strategyName]: [] }];
    }
  }
}
