import type { KeyRestrictions } from '../../accounts/api-keys/key-limits.js';
import type { RefusedKey } from '../../accounts/api-keys/api-key-verifier.js';
import type { TierConfig } from '../../platform/config/config.js';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

declare module '../../platform/http/request/request-context.js' {
  interface RequestContext {
    /** The caller that a guard has accepted. Read it with `@CurrentPrincipal()`. */
    principal?: Principal;
    /** The known key of a request that was refused because of this key. */
    refusedKey?: RefusedKey;
  }
}

/**
 * The account that makes a request, and the credential that proves its identity.
 *
 * @since 1.0
 */
export interface Principal {
  readonly accountId: string;
  readonly tier: TierConfig;
  /** The credential of the request. Revoking the credential ends the streams that use it. */
  readonly credential: Credential;
}

/** What is known of a key or a session since it was read from the database. */
interface VerifiedCredential {
  readonly expiresAt?: Date | null | undefined;
  /** The position of `AccountChanges` before the credential was read. By default, the position when a stream begins. */
  readonly readAt?: number | undefined;
}

export type Credential =
  | ({
      readonly kind: 'api_key';
      readonly keyId: string;
      /** The part of the key that may be shown. */
      readonly prefix: string;
      /** The limits of the key. `undefined`: the key has none of its own. */
      readonly restrictions?: KeyRestrictions | undefined;
    } & VerifiedCredential)
  /** A browser that is signed in; the id is the hash of its token. */
  | ({ readonly kind: 'session'; readonly sessionId: string } & VerifiedCredential)
  | ExternalCredential;

/** A credential of a plugin's strategy. */
export interface ExternalCredential {
  readonly kind: 'external';
  readonly id: string;
  /** When the credential expires. The service then ends the streams that use it. */
  readonly expiresAt?: Date;
  /** Aborts when the credential is revoked. The service then ends the streams that use it. */
  readonly revoked?: AbortSignal;
}

/** Returns the limits of the API key that makes the request. `undefined`: the credential has no limits of its own. */
export function restrictionsOf({ credential }: Principal): KeyRestrictions | undefined {
  return credential.kind === 'api_key' ? credential.restrictions : undefined;
}

/**
 * Returns the principal that the authentication guard has accepted.
 *
 * @throws {Error} when the route is public or the guard did not run.
 */
export function principalOf(request: Request): Principal {
  const { principal } = request.context;
  if (principal === undefined)
    throw new Error('The request has no principal: the route is public, or its guard did not run.');
  return principal;
}

/**
 * Parameter decorator: the principal that makes the request. Not for routes that are `@Public()`.
 *
 * @since 1.0
 */
export const CurrentPrincipal = createParamDecorator((_: unknown, context: ExecutionContext): Principal =>
  principalOf(context.switchToHttp().getRequest<Request>()),
);
