import type { Type } from '@nestjs/common';
import { ExtensionPoint } from '../../common/extensions/extension-point.js';
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
export type OAuthFlows = Readonly<
  Partial<Record<'implicit' | 'password' | 'clientCredentials' | 'authorizationCode', OAuthFlow>>
>;

export interface OAuthFlow {
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
