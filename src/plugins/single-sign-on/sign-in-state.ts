import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK } from '../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../plugin-api/core/config.js';
import { type NewSignIn, SIGN_IN_LIFETIME_MS } from '../../plugin-api/single-sign-on.js';
import type { SignInChecks } from './issuer.js';

/** A sign-in in progress. */
export interface SignInInProgress extends SignInChecks, Omit<NewSignIn, 'cookie'> {
  /** Whether the browser that has come back is the browser that has started the sign-in. */
  isOf(cookie: string | undefined): boolean;
}

interface Sealed {
  readonly verifier: string;
  readonly nonce: string;
  readonly browser: string;
  readonly next?: string;
  readonly account?: string;
}

/**
 * Keeps sign-ins in progress in the parameter `state` itself, encrypted, so that nothing is stored: a million started sign-ins cost
 * no memory and no rows, and any replica can finish them. The key is derived from the client secret, which all replicas share.
 * The state holds a hash of a cookie, so that it is useless in another browser.
 */
@Injectable()
export class SignInStates {
  private key: Uint8Array | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  async create({ cookie, next, linkedAccountId }: NewSignIn): Promise<SignInChecks> {
    const { EncryptJWT } = await import('jose');
    const [verifier, nonce] = [randomBytes(32).toString('base64url'), randomBytes(16).toString('base64url')];
    const sealed: Sealed = {
      verifier,
      nonce,
      browser: hashOf(cookie),
      ...(next === undefined ? {} : { next }),
      ...(linkedAccountId === undefined ? {} : { account: linkedAccountId }),
    };
    const state = await new EncryptJWT({ ...sealed })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setExpirationTime(new Date(this.now() + SIGN_IN_LIFETIME_MS))
      .encrypt(this.sealingKey);
    return { verifier, nonce, state };
  }

  /** Returns `undefined` for a state that was not made here, was changed, or has expired. */
  async open(state: string): Promise<SignInInProgress | undefined> {
    const { jwtDecrypt, errors } = await import('jose');
    try {
      const { payload } = await jwtDecrypt<Sealed>(state, this.sealingKey, {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        currentDate: new Date(this.now()),
        requiredClaims: ['exp'],
      });
      const { verifier, nonce, browser, next, account: linkedAccountId } = payload;
      const isOf = (cookie: string | undefined) => cookie !== undefined && hashOf(cookie) === browser;
      return { verifier, nonce, state, next, linkedAccountId, isOf };
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  private get sealingKey(): Uint8Array {
    const secret = this.config.singleSignOn?.clientSecret ?? '';
    this.key ??= new Uint8Array(hkdfSync('sha256', secret, '', 'state of a sign-in', 32));
    return this.key;
  }
}

function hashOf(cookie: string): string {
  return createHash('sha256').update(cookie).digest('base64url');
}
