/** The limits that a tier sets for each account. A missing limit means unlimited. */
export interface TierLimits {
  readonly requestsPerMinute?: number | undefined;
  readonly concurrentStreams?: number | undefined;
  /** Per calendar day in UTC. */
  readonly tokensPerDay?: number | undefined;
}

/** The tokens that a request may use. With fewer than `atLeast` left, the request is refused. It gets at most `atMost`. */
export interface TokenDemand {
  readonly atLeast: number;
  readonly atMost: number;
}

export interface AdmissionRequest {
  readonly accountId: string;
  readonly limits: TierLimits;
  readonly tokens: TokenDemand;
}

/** The limits and their current remainders. A limit that the tier does not have is `undefined`. */
export interface LimitState {
  readonly requests: { readonly limit: number; readonly remaining: number; readonly resetSeconds: number } | undefined;
  readonly streams: { readonly limit: number; readonly remaining: number } | undefined;
  readonly tokens: TokenState | undefined;
}

export interface TokenState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
  /** The time of the renewal, by the clock of the store. When missing, `resetSeconds` and the clock of this process count. */
  readonly renewsAt?: Date;
}

export type LimitName = keyof LimitState;

/** The stream's place and the reserved tokens of an admitted request. */
export interface Lease {
  /** The reserved tokens of the day, between `atLeast` and `atMost`. `undefined` when the tier has no limit of tokens. */
  readonly tokens: number | undefined;
  /** Gives the stream's place back. Further calls do nothing. */
  release(): void;
  /**
   * Replaces the reservation by the tokens used. Only the first call counts. 0 gives the whole reservation back. A negative
   * or non-finite number counts as the whole reservation.
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
 * Counts what each account uses of its limits. The class is the injection token.
 *
 * A store checks and counts all limits together. A request that one limit refuses uses nothing of the other limits.
 *
 * @example @ChatPlugin({ name: 'ours', compatibility: '^1', limitStore: OurLimitStore })
 */
export abstract class LimitStore {
  abstract admit(request: AdmissionRequest): Promise<Admission>;

  /** Returns the state without counting a request. */
  abstract peek(accountId: string, limits: TierLimits): Promise<LimitState>;

  /**
   * Returns a refusal that is already certain, without a query. The body of the request is then not read. The method is
   * optional. `undefined` means that the store does not know yet.
   */
  foresee?(accountId: string, limits: TierLimits): Refusal | undefined;
}
