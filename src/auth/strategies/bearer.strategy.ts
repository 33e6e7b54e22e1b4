import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-http-bearer';
import {
  ApiKeyVerifier,
  LastUsedRecorder,
  refusedKey,
  type RefusedKey,
} from '../../accounts/api-keys/api-key-verifier.js';
import { API_KEY_FORMAT } from '../../accounts/credentials/secrets.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { networkOf } from '../network/client-network.js';
import type { Principal } from '../principal/principal.js';
import { INVALID_TOKEN_CHALLENGE, REALM, UNKNOWN_KEY, unauthenticated } from '../bearer/bearer-header.js';

/** The object that the library gets instead of the request. `request` is for {@link BearerStrategy.validate}. */
interface ShownRequest {
  readonly request: Request;
}

/** Returns the header with the key. Some surfaces have another header for it. */
function keyHeaders({ headers, context }: Request): object {
  const { keyHeader } = context.surface ?? {};
  const key = keyHeader !== undefined && headers.authorization === undefined ? headers[keyHeader] : undefined;
  return typeof key === 'string' ? { authorization: `Bearer ${key}` } : headers;
}

/** Authenticates by `Authorization: Bearer <API key>` (RFC 6750, section 2.1 only). */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy, 'bearer') {
  static readonly strategyName = 'bearer';

  constructor(
    private readonly keys: ApiKeyVerifier,
    private readonly lastUsed: LastUsedRecorder,
  ) {
    super({ realm: REALM, passReqToCallback: true });
  }

  /** Shows only the headers to the library. The library also accepts keys from the query and the body, which appear in logs. */
  override authenticate(request: Request): void {
    super.authenticate({ headers: keyHeaders(request), request } as unknown as Request);
  }

  async validate({ request }: ShownRequest, key: string): Promise<Principal | false> {
    const onRefused = (refused: RefusedKey): void => {
      request.context.refusedKey = refused;
    };
    const verified = await this.keys.verify(key, () => networkOf(request.ip), onRefused);
    if (verified === undefined) {
      // Another strategy must not accept the request of a key that was revoked.
      if (key.startsWith(API_KEY_FORMAT.mark)) throw unauthenticated(UNKNOWN_KEY, INVALID_TOKEN_CHALLENGE);
      return false;
    }
    const { account, keyId, prefix, restrictions, expiresAt, readAt } = verified;
    if (restrictions?.allowsAddress(request.ip ?? '') === false) {
      onRefused(refusedKey(verified, 'address_not_allowed'));
      throw new ServiceError('address_not_allowed', 'This API key may not be used from your address.');
    }
    this.lastUsed.touch(keyId);
    return {
      accountId: account.id,
      tier: account.tier,
      credential: { kind: 'api_key', keyId, prefix, restrictions, expiresAt, readAt },
    };
  }
}
