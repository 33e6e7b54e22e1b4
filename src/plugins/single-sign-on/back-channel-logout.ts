import { Inject, Injectable, Logger } from '@nestjs/common';
import type { JWTPayload } from 'jose';
import { IssuerLogout, type Logout } from '../../plugin-api/core/accounts.js';
import { SignInLimits } from '../../plugin-api/core/auth.js';
import { ServiceError } from '../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../plugin-api/core/config.js';
import { isInvalid, signOnFailureReason } from './sign-on-failure.js';
import { isIssuerId, CLOCK_TOLERANCE_SECONDS, Issuer } from './issuer.js';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** How old a logout token may be. For this time, its id is kept, so that it has an effect once. */
const MAX_AGE_SECONDS = 300;
/** Of a logout token, which has a few claims. */
const MAX_TOKEN_LENGTH = 16_384;

/** Ends sessions because the issuer says so: OpenID Connect Back-Channel Logout 1.0. */
@Injectable()
export class BackChannelLogout {
  private readonly logger = new Logger('SingleSignOn');

  constructor(
    private readonly issuer: Issuer,
    private readonly logouts: IssuerLogout,
    private readonly limits: SignInLimits,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async handle(token: string, address: string | undefined): Promise<void> {
    const attempt = await this.limits.issuerAttempt(address);
    try {
      const logout = await this.check(token);
      const ended = await this.logouts.end(logout, this.config.singleSignOn?.logoutRevokesKeys === true);
      if (ended === undefined) throw invalid('The logout token was used already.');
      this.logger.log({ msg: 'The issuer has signed a person out', ...ended });
    } catch (error) {
      await (error instanceof ServiceError && error.code === 'invalid_request'
        ? attempt.failed()
        : attempt.withdrawn());
      throw error;
    }
    // An issuer sends the logouts of all its people from one address.
    await attempt.withdrawn();
  }

  private async check(token: string): Promise<Logout> {
    if (token.length > MAX_TOKEN_LENGTH) throw invalid('The logout token is too long.');
    const { decodeProtectedHeader } = await import('jose');
    try {
      const payload = await this.issuer.verify(token, {
        maxTokenAge: MAX_AGE_SECONDS,
        requiredClaims: ['iat', 'jti', 'events'],
      });
      const { typ = 'JWT' } = decodeProtectedHeader(token);
      if (!/^(?:application\/)?(?:logout\+jwt|jwt)$/i.test(typ)) throw invalid('The token is no logout token.');
      return logoutOf(payload);
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      this.logger.warn({ msg: 'A logout token was refused', reason: signOnFailureReason(error) });
      if (isInvalid(error)) throw invalid('The logout token is invalid.', error);
      throw new ServiceError('unavailable', 'The keys of the issuer are unavailable.', {
        cause: error,
        retryAfterSeconds: 5,
      });
    }
  }
}

function logoutOf({ iss = '', sub, sid, jti, iat = 0, events, nonce }: JWTPayload): Logout {
  const isLogout = typeof events === 'object' && events !== null && EVENT in events;
  // An ID token has a nonce, and must not work as a logout token.
  if (!isLogout || nonce !== undefined) throw invalid('The token is no logout token.');
  const tokenId = idIn(jti);
  const [subject, session] = [idIn(sub), idIn(sid)];
  if (tokenId === undefined || (subject === undefined && session === undefined)) {
    throw invalid('The logout token must have jti, and sub or sid.');
  }
  const tokenExpiresAt = (iat + MAX_AGE_SECONDS + 2 * CLOCK_TOLERANCE_SECONDS) * 1000;
  return { issuer: iss, subject, sid: session, tokenId, tokenExpiresAt };
}

/** @throws {ServiceError} for a claim that is present and no id. */
function idIn(claim: unknown): string | undefined {
  if (claim === undefined) return undefined;
  if (isIssuerId(claim)) return claim;
  throw invalid('The logout token has an invalid sub, sid or jti.');
}

function invalid(message: string, cause?: unknown): ServiceError {
  return new ServiceError('invalid_request', message, { cause });
}
