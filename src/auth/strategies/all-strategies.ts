import type { Type } from '@nestjs/common';
import { ExtensionPoint } from '../../platform/common/extensions/extensions.js';
import type { Strategy } from 'passport';
import { BearerStrategy } from './bearer.strategy.js';
import { SessionStrategy } from './session.strategy.js';
import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from '../../platform/http/open-api/defined-errors.js';
import { OPERATOR_SECURITY } from '../../platform/http/open-api/api-decorators.js';

/**
 * A way to authenticate: an injectable Passport strategy whose `validate` returns a `Principal`. An example is a class that
 * extends `PassportStrategy` of @nestjs/passport.
 */
export interface StrategyType extends Type<Strategy> {
  /** The name under which the strategy is registered with Passport, unique in the application. */
  readonly strategyName: string;
  /** How to send the credential, for the answer to a request without one, such as `Or send a token of the gateway.` */
  readonly hint?: string;
  /** The security scheme of the strategy in the OpenAPI document. */
  readonly securityScheme?: SecurityScheme;
}

/**
 * A security scheme of OpenAPI 3.1.
 *
 * @since 1.0
 */
export type SecurityScheme =
  | { readonly type: 'http'; readonly scheme: string; readonly bearerFormat?: string; readonly description?: string }
  | { readonly type: 'apiKey'; readonly in: 'header'; readonly name: string; readonly description?: string }
  | { readonly type: 'mutualTLS'; readonly description?: string }
  | { readonly type: 'openIdConnect'; readonly openIdConnectUrl: string; readonly description?: string }
  | { readonly type: 'oauth2'; readonly flows: OAuthFlows; readonly description?: string };

/** The flows of OAuth 2 in OpenAPI. */
type OAuthFlows = Readonly<
  Partial<Record<'implicit' | 'password' | 'clientCredentials' | 'authorizationCode', OAuthFlow>>
>;

interface OAuthFlow {
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
  readonly refreshUrl?: string;
  /** What each scope allows, by the name of the scope. */
  readonly scopes: Record<string, string>;
}

/** The strategies of plugins. */
export const PLUGIN_STRATEGIES = new ExtensionPoint<StrategyType>('strategies');

/** Run in this order. The first strategy that knows the caller decides. A new strategy needs one file and one entry here. */
export const STRATEGIES: readonly StrategyType[] = [BearerStrategy, SessionStrategy];

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
