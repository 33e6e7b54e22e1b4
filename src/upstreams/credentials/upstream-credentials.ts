import type { Clock } from '../../platform/common/clock.js';
import { withTimeout } from '../../platform/common/timers/timeouts.js';
import type { Credential } from '../contract/credential.js';
import { credentialsUnavailable, ProviderFailure } from '../contract/provider-failure.js';

/** How long before its expiry a credential is replaced while it is still used. A short-lived one uses a quarter of its time. */
const REFRESH_MARGIN_MS = 5 * 60_000;
const REFRESH_SHARE = 0.25;
/** How long before its expiry a credential is not used any more: clocks differ, and requests take time. */
const SAFETY_MARGIN_MS = 30_000;
const SAFETY_SHARE = 0.1;
/** The time limit for a new credential. */
const OBTAIN_MS = 10_000;
/** After a failure, requests fail at once for this time, so that they do not all wait for an unavailable token service. */
const FAILURE_HOLDS_MS = 2_000;
/** How often a credential is replaced that was never accepted. An identity without permission is refused with each credential. */
const RENEWAL_INTERVAL_MS = 10_000;

/** A credential with the times that follow from its expiry. */
interface Kept {
  readonly credential: Credential;
  readonly refreshAt: number;
  readonly unusableAt: number;
  /** Whether the provider has accepted a request with the credential. */
  isAccepted: boolean;
}

/**
 * Keeps the credential of one upstream. It is replaced before it expires, once for all requests, and requests go on with the present one
 * meanwhile. They wait only if there is none.
 */
export class UpstreamCredentials {
  private kept: Kept | undefined;
  private pending: Promise<Credential> | undefined;
  private failure: { readonly error: ProviderFailure; readonly until: number } | undefined;
  private renewedAt = -Infinity;

  /** @param now milliseconds since 1970. */
  constructor(
    private readonly obtain: (signal: AbortSignal) => Promise<Credential>,
    private readonly now: Clock = () => Date.now(),
  ) {}

  /** @throws {ProviderFailure} `credentials_unavailable`. */
  async get(): Promise<Credential> {
    const { kept } = this;
    const now = this.now();
    if (kept === undefined || now >= kept.unusableAt) return this.refresh();
    // A failure of this refresh concerns no request yet. The next request tries again.
    if (now >= kept.refreshAt) this.refresh().catch(() => undefined);
    return kept.credential;
  }

  /** The provider has accepted a request with this credential. */
  accept(credential: Credential): void {
    if (this.kept?.credential === credential) this.kept.isAccepted = true;
  }

  /** Returns another credential after the provider has refused this one. `undefined`: another one was tried a moment ago. */
  renew(refused: Credential): Promise<Credential> | undefined {
    const { kept } = this;
    const now = this.now();
    if (kept?.credential === refused) {
      if (!kept.isAccepted && now - this.renewedAt < RENEWAL_INTERVAL_MS) return undefined;
      this.renewedAt = now;
      this.kept = undefined;
    }
    return this.get();
  }

  private refresh(): Promise<Credential> {
    const { failure } = this;
    if (this.pending !== undefined) return this.pending;
    if (failure !== undefined && this.now() < failure.until) return Promise.reject(failure.error);
    const pending = this.obtainInTime().finally(() => {
      this.pending = undefined;
    });
    this.pending = pending;
    return pending;
  }

  private async obtainInTime(): Promise<Credential> {
    const aborter = new AbortController();
    const late = () => credentialsUnavailable('The source of the credentials did not answer in time.');
    try {
      const credential = await withTimeout(this.obtain(aborter.signal), OBTAIN_MS, late);
      this.kept = keptFrom(credential, this.now());
      this.failure = undefined;
      return credential;
    } catch (error) {
      const failure = failureOf(error);
      this.failure = { error: failure, until: this.now() + FAILURE_HOLDS_MS };
      throw failure;
    } finally {
      aborter.abort();
    }
  }
}

/** @throws {ProviderFailure} if the credential has expired already. */
function keptFrom(credential: Credential, now: number): Kept {
  const { expiresAt } = credential;
  if (expiresAt === undefined) return { credential, refreshAt: Infinity, unusableAt: Infinity, isAccepted: false };
  const lifetime = expiresAt - now;
  if (!(lifetime > 0)) throw credentialsUnavailable('The source returned credentials that have expired.');
  return {
    credential,
    refreshAt: expiresAt - Math.min(REFRESH_MARGIN_MS, lifetime * REFRESH_SHARE),
    unusableAt: expiresAt - Math.min(SAFETY_MARGIN_MS, lifetime * SAFETY_SHARE),
    isAccepted: false,
  };
}

const NAME = /^[A-Z]\w{0,63}$/i;

/** The message of an unknown error can contain a secret, such as the output of a program. */
function failureOf(error: unknown): ProviderFailure {
  if (error instanceof ProviderFailure && error.failureCause.kind === 'credentials_unavailable') return error;
  const { name = '', code } = error as { readonly name?: unknown; readonly code?: unknown };
  const labels = [name, code].filter((label): label is string => typeof label === 'string' && NAME.test(label));
  return credentialsUnavailable(`The credentials cannot be obtained: ${labels.join(' ') || 'unknown error'}.`, {
    ...(labels.length > 0 && { code: labels.at(-1) }),
  });
}
