/** What an account may use, as a tier says. A missing limit is no limit. */
export interface TierLimits {
  readonly requestsPerMinute?: number | undefined;
  readonly concurrentStreams?: number | undefined;
  /** Of a calendar day in UTC. */
  readonly tokensPerDay?: number | undefined;
}

/** Tokens that a request may come to use: it is not let in with fewer than `atLeast`, and gets `atMost` if they are there. */
export interface TokenDemand {
  readonly atLeast: number;
  readonly atMost: number;
}

export interface AdmissionRequest {
  readonly accountId: string;
  readonly limits: TierLimits;
  readonly tokens: TokenDemand;
}

/** The limits and what is left of them now. A limit that the tier lacks is `undefined`. */
export interface LimitState {
  readonly requests: { readonly limit: number; readonly remaining: number; readonly resetSeconds: number } | undefined;
  readonly streams: { readonly limit: number; readonly remaining: number } | undefined;
  readonly tokens: TokenState | undefined;
}

export interface TokenState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
  /** The moment of the renewal, by the clock that counts; by default the clock of this process. */
  readonly renewsAt?: Date;
}

export type LimitName = keyof LimitState;

/** What an admitted request holds. */
export interface Lease {
  /** Tokens reserved of the day, between `atLeast` and `atMost`; `undefined` where the tier has no such limit. */
  readonly tokens: number | undefined;
  /** Gives the stream's place back. Harmless when called again. */
  release(): void;
  /**
   * Replaces the reservation by what was used; counts once. 0 gives all of it back. A negative or non-finite number counts as
   * the whole reservation.
   */
  settle(tokensUsed: number): void;
}

export interface Refusal {
  readonly admitted: false;
  readonly refusedBy: LimitName;
  readonly retryAfterSeconds: number;
  readonly state: LimitState;
}

export type Admission = { readonly admitted: true; readonly lease: Lease; readonly state: LimitState } | Refusal;

/**
 * Where the use of each account is counted. The class is the injection token.
 *
 * All limits are checked together and committed together: a refusal for one uses up nothing of another.
 *
 * @example AppModule.register({ limitStore: new OurLimitStore() })
 */
export abstract class LimitStore {
  abstract admit(request: AdmissionRequest): Promise<Admission>;

  /** The state without one more request. */
  abstract peek(accountId: string, limits: TierLimits): Promise<LimitState>;

  /**
   * A refusal that is certain already, without asking anybody, so that a body need not be read to learn it. A store may
   * lack this, and may be ignorant.
   */
  foresee?(accountId: string, limits: TierLimits): Refusal | undefined;
}
