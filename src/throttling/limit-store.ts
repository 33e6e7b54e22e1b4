import type { LimitUnit, LimitWindow } from '../platform/config/limits/limit-table.js';

/**
 * One limit of an account, as a store counts it.
 *
 * @experimental
 * @since 1.0
 */
export interface Limit {
  /** The name of the counter. The names of all limits of an account differ. */
  readonly name: string;
  /** `requests`: counts 1 at admission. `streams`: holds 1 until `release`. `tokens`: holds the reservation until `settle`. */
  readonly unit: LimitUnit;
  /** When the count begins again: a minute after its first request, at midnight or with the month in UTC, or `none`. */
  readonly window: LimitWindow;
  /** How many units the account may use in one window, or hold at the same time. */
  readonly max: number;
  /**
   * The requests of the account that the limit counts. Requests with another key are counted apart: each key has its own requests,
   * streams and tokens. The key is the id of an API key (of the first key in a chain of rotated keys), or what a plugin has chosen,
   * such as a model. `undefined`: the limit counts all requests of the account.
   *
   * The limits of the account stand first. Limits with the same key stand together.
   */
  readonly key?: string | undefined;
  /** How many units of `requests` an admission uses. By default 1. A negative number gives units of the current window back. */
  readonly cost?: number | undefined;
  /**
   * Returns the tokens of the key that were used from `from` on, when nothing was counted yet in a day or a month. Without the
   * method, the store asks `TokensUsed`.
   */
  usedBefore?(from: Date): Promise<number>;
}

const NO_KEYS: readonly string[] = [];

/** Returns the different keys of the limits, in order. */
export function keysOf(limits: readonly Limit[]): readonly string[] {
  if (limits.at(-1)?.key === undefined) return NO_KEYS;
  const keys = new Set<string>();
  for (const { key } of limits) if (key !== undefined) keys.add(key);
  return [...keys];
}

const OF_ACCOUNT = [undefined] as const;

/** Returns whose uses are counted apart: those of the account, as `undefined`, and those of each key. */
export function subjectsOf(limits: readonly Limit[]): readonly (string | undefined)[] {
  const keys = keysOf(limits);
  return keys.length === 0 ? OF_ACCOUNT : [undefined, ...keys];
}

/** Returns what an admission uses of a limit of requests or streams. */
export function costOf({ unit, cost = 1 }: Limit): number {
  return unit === 'requests' ? cost : 1;
}

/** Returns the name under which uses are counted: an account and each of its API keys are counted apart. */
export function bucketOf(accountId: string, key: string | undefined): string {
  return key === undefined ? accountId : `${accountId} ${key}`;
}

/** The tokens that a request may use. With fewer than `atLeast` left, the request is refused. It gets at most `atMost`. */
export interface TokenDemand {
  readonly atLeast: number;
  readonly atMost: number;
  /** The tokens of the prompt, for the message of a refusal. */
  readonly prompt?: number | undefined;
}

/** For a request that uses no tokens. */
export const NO_TOKENS: TokenDemand = { atLeast: 0, atMost: 0 };

/**
 * A request that a {@link LimitStore} admits or refuses.
 *
 * @experimental
 * @since 1.0
 */
export interface AdmissionRequest {
  /** The id of the account. `scope:<name>` for the limits of a plugin that all accounts of a scope share. */
  readonly accountId: string;
  /** All limits that the request must pass. When several refuse it, the refusal names the first of them. */
  readonly limits: readonly Limit[];
  readonly tokens: TokenDemand;
}

/**
 * A limit and what remains of it.
 */
export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window ends, by the clock of the store. `undefined` for a limit without a window. */
  readonly resetSeconds?: number;
  /** The same in milliseconds, if the store knows it. */
  readonly resetMs?: number;
}

/**
 * The state of each requested limit, by the name of the limit.
 */
export type LimitStates = Readonly<Record<string, LimitState>>;

/**
 * The stream's slot and the reserved tokens of an admitted request.
 */
export interface Lease {
  /** The reserved tokens, between `atLeast` and `atMost`. `undefined` when no limit counts tokens. */
  readonly tokens: number | undefined;
  /** Releases the stream's slot. Further calls do nothing. */
  release(): void;
  /**
   * Replaces the reservation by the tokens used. Only the first call counts. 0 releases the whole reservation. A negative or
   * non-finite number counts as the whole reservation.
   */
  settle(tokensUsed: number): void;
}

export interface Refusal {
  readonly admitted: false;
  /** The name of the limit that refuses the request. */
  readonly refusedBy: string;
  readonly retryAfterSeconds: number;
  /** The same in milliseconds, if the store knows it. */
  readonly retryAfterMs?: number | undefined;
  readonly state: LimitStates;
}

/**
 * The decision of a {@link LimitStore}: the lease of an admitted request, or the limit that refuses the request and the time
 * after which a retry makes sense, in whole seconds. Both have the state of the limits after the decision.
 *
 * @experimental
 * @since 1.0
 */
export type Admission = { readonly admitted: true; readonly lease: Lease; readonly state: LimitStates } | Refusal;

/**
 * Counts what each account uses of its limits. The class is the injection token.
 *
 * A store checks and counts all limits together. A request that one limit refuses uses nothing of the other limits.
 *
 * @experimental
 * @since 1.0
 *
 * @example @ChatPlugin({ name: 'ours', compatibility: '^1', limitStore: OurLimitStore })
 */
export abstract class LimitStore {
  /**
   * Admits a request and counts it, or refuses it.
   *
   * @throws {ServiceError} `unavailable` when the store does not answer. The client receives this error.
   */
  abstract admit(request: AdmissionRequest): Promise<Admission>;

  /**
   * Returns the state without counting a request.
   *
   * @param accountId as in {@link AdmissionRequest}.
   * @param limits a limit of a plugin has the key `own:<name>`, or `own:<name>:<key>`.
   */
  abstract peek(accountId: string, limits: readonly Limit[]): Promise<LimitStates>;

  /**
   * Returns a refusal that is already certain, without a query. The body of the request is then not read. The method is
   * optional. `undefined` means that the store does not know yet.
   */
  precheck?(accountId: string, limits: readonly Limit[]): Refusal | undefined;
}

/** A slot becomes free when a stream ends. The time is unknown, so a client may retry soon. */
const SLOT_RETRY_SECONDS = 1;

/** Returns the refusal by a limit: the client may retry when its window ends. */
export function refusal(refusedBy: string, state: LimitStates): Refusal {
  return {
    admitted: false,
    refusedBy,
    retryAfterSeconds: state[refusedBy]?.resetSeconds ?? SLOT_RETRY_SECONDS,
    retryAfterMs: state[refusedBy]?.resetMs,
    state,
  };
}

/** What the limits of an account, or of one of its keys, hold for a request. */
export type LeasePart = Pick<Lease, 'release' | 'settle'>;

/** Returns the lease of a request of these parts. */
export function joinedLease(tokens: number | undefined, parts: readonly LeasePart[]): Lease {
  return {
    tokens,
    release: () => {
      for (const part of parts) part.release();
    },
    settle: (tokensUsed) => {
      for (const part of parts) part.settle(tokensUsed);
    },
  };
}

/** Returns how many of the granted tokens the limits reserve. `undefined`: no limit counts tokens. */
export function reservedBy(limits: readonly Limit[], granted: number | undefined): number | undefined {
  return limits.some(({ unit }) => unit === 'tokens') ? granted : undefined;
}
