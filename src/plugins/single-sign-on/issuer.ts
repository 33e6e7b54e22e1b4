import { Inject, Injectable } from '@nestjs/common';
import type { JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose';
import type { ClientAuth, Configuration } from 'openid-client';
import { type Clock, CLOCK, elapsedMs, realMs, withoutTrailingSlashes } from '../../plugin-api/core/common.js';
import { type Config, CONFIG, type SingleSignOnConfig, type ClaimCondition } from '../../plugin-api/core/config.js';
import { SINGLE_SIGN_ON_PATH } from '../../plugin-api/single-sign-on.js';

/** The issuer sends the browser back to this path: the redirect URI. */
const CALLBACK_PATH = `${SINGLE_SIGN_ON_PATH}/callback`;

/** Far above what an issuer answers: its metadata, its keys, a token with many groups. */
const MAX_BYTES = 1024 * 1024;

/**
 * `fetch` for answers of an issuer: reads at most 1 MiB, and follows no redirect. The signal of the request ends the reading, too.
 *
 * @throws {Error} if the answer is longer.
 */
async function boundedFetch(url: string, options: object): Promise<Response> {
  const response = await fetch(url, { ...options, redirect: 'manual' });
  const { status, statusText, headers } = response;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error(`The issuer sent more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  const hasBody = status !== 204 && status !== 304;
  return new Response(hasBody ? Buffer.concat(chunks) : null, { status, statusText, headers });
}

/** How long one request to the issuer may take. */
const TIMEOUT_MS = 5_000;
/** After this time, the metadata is read again. The old metadata stays in use until the issuer answers. */
const METADATA_LIFETIME_MS = 3_600_000;
/** After a failure, the next request for the metadata waits this long. */
const RETRY_AFTER_MS = 2_000;
/** How often the keys are read again because a token names an unknown key. */
const KEYS_COOLDOWN_MS = 10_000;
const KEYS_LIFETIME_MS = 600_000;
/** An ID token is redeemed at once. Without a maximum age, times in the future would pass. */
const MAX_ID_TOKEN_AGE_SECONDS = 600;
/** How far the clocks of the issuer and of this service may differ. */
export const CLOCK_TOLERANCE_SECONDS = 60;

/** What only this browser and this service know of a sign-in in progress. */
export interface SignInChecks {
  readonly verifier: string;
  readonly nonce: string;
  readonly state: string;
}

/** What the issuer says about a person. */
export interface IssuerAnswer {
  /** The claims of the ID token and of the UserInfo endpoint. */
  readonly claims: Claims;
  readonly idToken: string;
}

/** The claims about a person. `iss` and `sub` are checked. */
export type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string };

interface Discovered {
  readonly configuration: Configuration;
  readonly issuer: string;
  readonly keys: JWTVerifyGetKey;
  readonly at: number;
}

/**
 * The issuer of OpenID Connect. Loads its libraries and asks the issuer only when someone signs in. So the service starts and
 * serves without the issuer.
 */
@Injectable()
export class Issuer {
  private known: Discovered | undefined;
  private pending: Promise<Discovered> | undefined;
  private failure: { readonly error: unknown; readonly at: number } | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Returns the address to which the browser goes to sign in. */
  async authorizationUrl({ verifier, nonce, state }: SignInChecks): Promise<URL> {
    const { configuration } = await this.discovered();
    const client = await import('openid-client');
    return client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.settings.publicUrl + CALLBACK_PATH,
      scope: this.settings.scopes,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      nonce,
      state,
    });
  }

  /**
   * Redeems the code with which the issuer has sent the browser back.
   *
   * @param query the query of the callback, as the browser has sent it.
   * @throws the errors of the libraries, see `signOnFailure`.
   */
  async redeem(query: string, { verifier, nonce, state }: SignInChecks): Promise<IssuerAnswer> {
    const { configuration } = await this.discovered();
    const client = await import('openid-client');
    const callback = new URL(`${this.settings.publicUrl}${CALLBACK_PATH}${query}`);
    const tokens = await client.authorizationCodeGrant(configuration, callback, {
      pkceCodeVerifier: verifier,
      expectedNonce: nonce,
      expectedState: state,
      idTokenExpected: true,
    });
    const { id_token: idToken = '', access_token: accessToken } = tokens;
    const claims = (await this.verify(idToken, { maxTokenAge: MAX_ID_TOKEN_AGE_SECONDS })) as Claims;
    const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined;
    const more = hasMore ? await client.fetchUserInfo(configuration, accessToken, claims.sub) : {};
    return { claims: { ...more, ...claims, ...addressIn([claims, more]) }, idToken };
  }

  /** Checks the signature of a token of the issuer for this service, and the claims `iss`, `aud`, `exp`, `nbf` and `iat`. */
  async verify(token: string, options: JWTVerifyOptions = {}): Promise<JWTPayload> {
    const { issuer, keys } = await this.discovered();
    const { jwtVerify } = await import('jose');
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience: this.settings.clientId,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(this.now()),
      ...options,
    });
    return payload;
  }

  /** Returns the address at which the browser also signs out of the issuer, or `undefined` if the issuer has none. */
  async endSessionUrl(idToken: string | null, returnPath: string): Promise<URL | undefined> {
    const { configuration } = await this.discovered();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    const client = await import('openid-client');
    return client.buildEndSessionUrl(configuration, {
      post_logout_redirect_uri: this.settings.publicUrl + returnPath,
      ...(idToken === null ? {} : { id_token_hint: idToken }),
    });
  }

  private get settings(): SingleSignOnConfig {
    const { singleSignOn } = this.config;
    if (singleSignOn === undefined) throw new Error('There is no issuer.');
    return singleSignOn;
  }

  /** Concurrent callers share one request. */
  private async discovered(): Promise<Discovered> {
    const { known, failure } = this;
    const now = elapsedMs();
    if (known !== undefined && now - known.at < METADATA_LIFETIME_MS) return known;
    if (this.pending === undefined && failure !== undefined && now - failure.at < RETRY_AFTER_MS) {
      if (known !== undefined) return known;
      throw failure.error;
    }
    this.pending ??= this.discover().finally(() => {
      this.pending = undefined;
    });
    if (known === undefined) return this.pending;
    // The failure is kept for the next caller, and does not concern this one.
    this.pending.catch(() => undefined);
    return known;
  }

  private async discover(): Promise<Discovered> {
    try {
      this.known = await this.readMetadata();
      this.failure = undefined;
      return this.known;
    } catch (cause) {
      const error = new Error('The metadata of the issuer cannot be used', { cause });
      this.failure = { error, at: elapsedMs() };
      throw error;
    }
  }

  private async readMetadata(): Promise<Discovered> {
    const [client, { createRemoteJWKSet, customFetch }] = await Promise.all([import('openid-client'), import('jose')]);
    const { issuer, clientId, clientSecret } = this.settings;
    const isLocal = issuer.startsWith('http:');
    const configuration = await client.discovery(
      new URL(issuer),
      clientId,
      undefined,
      authentication(client, clientSecret),
      {
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to stand out; the configuration allows http:// on this machine only
        execute: isLocal ? [client.allowInsecureRequests] : [],
        timeout: realMs(TIMEOUT_MS) / 1000,
        [client.customFetch]: boundedFetch,
      },
    );
    const metadata = configuration.serverMetadata();
    if (withoutTrailingSlashes(metadata.issuer) !== withoutTrailingSlashes(issuer)) {
      throw new Error('The metadata of the issuer names another issuer.');
    }
    const keysUrl = new URL(metadata.jwks_uri ?? '');
    if (keysUrl.protocol !== 'https:' && !isLocal)
      throw new Error('The issuer has its keys at an address without TLS.');
    return {
      configuration,
      issuer: metadata.issuer,
      keys: createRemoteJWKSet(keysUrl, {
        cooldownDuration: KEYS_COOLDOWN_MS,
        cacheMaxAge: KEYS_LIFETIME_MS,
        timeoutDuration: realMs(TIMEOUT_MS),
        [customFetch]: boundedFetch,
      }),
      at: elapsedMs(),
    };
  }
}

/**
 * Returns the address and whether it is verified, both from one document: from the first one that has both, else from the first one
 * with an address. Otherwise the ID token could call the address verified that only the UserInfo endpoint has.
 */
function addressIn(documents: readonly Readonly<Record<string, unknown>>[]): Readonly<Record<string, unknown>> {
  const withAddress = documents.filter(({ email }) => email !== undefined);
  const chosen = withAddress.find((each) => each['email_verified'] !== undefined) ?? withAddress[0];
  return chosen === undefined ? {} : { email: chosen['email'], email_verified: chosen['email_verified'] };
}

/** The standard method, unless the issuer has only the other one. */
function authentication(
  { ClientSecretBasic, ClientSecretPost }: typeof import('openid-client'),
  secret: string,
): ClientAuth {
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const method = methods.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost;
    method(secret)(server, ...rest);
  };
}

/** The most values of one claim that count, such as groups of a person. */
const MAX_VALUES = 1_000;

/**
 * Returns the values of a claim as texts: the elements of a list, or the only value. A name that is no claim can be the path of a
 * member, such as `realm_access.roles`.
 */
export function valuesOf(claims: Claims, name: string): readonly string[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : memberAt(claims, name.split('.'));
  return (Array.isArray(value) ? (value as unknown[]).slice(0, MAX_VALUES) : [value]).flatMap((one) =>
    typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean' ? [String(one)] : [],
  );
}

/** Whether the claim has the value, or contains it in a list. */
export function meets(claims: Claims, { name, value }: ClaimCondition): boolean {
  return valuesOf(claims, name).includes(value);
}

function memberAt(claims: object, path: readonly string[]): unknown {
  let value: unknown = claims;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Far above the 255 characters that the standard allows for `sub`. */
const MAX_LENGTH = 1_024;

/** Whether a claim can be stored as an id of the issuer: of a person, of a session or of a token. */
export function isIssuerId(claim: unknown): claim is string {
  return typeof claim === 'string' && claim !== '' && claim.length <= MAX_LENGTH && !claim.includes('\0');
}
