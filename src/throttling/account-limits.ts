import { restrictionsOf, type Principal } from '../auth/principal/principal.js';
import { ExtensionPoint } from '../platform/common/extensions/extensions.js';
import {
  type LimitUnit,
  type LimitWindow,
  LIMITS,
  LIMIT_NAMES,
  type TierLimits,
  KEY_LIMITS,
} from '../platform/config/limits/limit-table.js';
import type { Limit } from './limit-store.js';
import type { KeyRestrictions } from '../accounts/api-keys/key-limits.js';

/** The limits of an API key. The longest window comes first, as for the limits of a tier. */
function limitsOfKey({ countedAs, requestsPerMinute, tokensPerDay }: KeyRestrictions): readonly Limit[] {
  return [
    ...limitOf('keyTokensPerDay', tokensPerDay, countedAs),
    ...limitOf('keyRequestsPerMinute', requestsPerMinute, countedAs),
  ];
}

function limitOf(name: keyof typeof KEY_LIMITS, max: number | undefined, key: string): readonly Limit[] {
  const { unit, window } = KEY_LIMITS[name];
  return max === undefined ? [] : [{ name, unit, window, max, key }];
}

const LENGTHS: Readonly<Record<LimitWindow, number>> = { none: 0, minute: 1, day: 2, month: 3 };

/** The longest window first: the limit that refuses a request for the longest time is the one that the client hears of. */
const BY_WINDOW_LENGTH = LIMIT_NAMES.map((name) => ({
  name,
  unit: LIMITS[name].unit,
  window: LIMITS[name].window,
})).sort((a, b) => LENGTHS[b.window] - LENGTHS[a.window]);

/** Returns the limits that a tier has, for a limit store. */
export function limitsOf(tier: TierLimits): readonly Limit[] {
  const limits: Limit[] = [];
  for (const { name, unit, window } of BY_WINDOW_LENGTH) {
    const max = tier[name];
    if (max !== undefined) limits.push({ name, unit, window, max });
  }
  return limits;
}

/** Returns the limits of a caller: those of the tier and those of the API key. */
export function limitsOfCaller(principal: Principal, tier: TierLimits = principal.tier): readonly Limit[] {
  const restrictions = restrictionsOf(principal);
  return restrictions === undefined ? limitsOf(tier) : [...limitsOf(tier), ...limitsOfKey(restrictions)];
}

/**
 * A request to a route with `@LimitedByTier()`, after its body was read, or a completion of a job.
 *
 * @experimental
 * @since 1.0
 */
export interface LimitedCall {
  readonly principal: Principal;
  /** The member `model` of the body, if the body has one. The model may be unknown. */
  readonly model: string | undefined;
  /** The valid body. `undefined` for a route that reads the body later, or that has none. */
  readonly body: object | undefined;
  /** The pattern of the path, as in logs and metrics, such as `/api/v1/chat/stream`. `undefined` for a completion of a job. */
  readonly route: string | undefined;
  /** The compatible API of the route, such as `messages`, or the name in `@Surface()`. `undefined` for other routes. */
  readonly surface: string | undefined;
}

/**
 * One limit of an account, or of a scope, that a plugin adds to the limits of the tier.
 *
 * @experimental
 * @since 1.0
 */
export interface AccountLimit {
  /** Lower-case letters, digits and hyphens. Begin it with the name of the plugin. The counter, metrics and logs have this name. */
  readonly name: string;
  /**
   * What is counted apart within the account, such as the model. Without a key, all requests of the account count together. Use
   * few different keys: each has a counter.
   */
  readonly key?: string;
  /**
   * Counts the requests of all accounts whose calls name this scope together, such as `team:red`: 1 to 128 letters, digits and `_.:@-`.
   * Without it, each account is counted apart.
   */
  readonly scope?: string;
  /** `requests`: the cost at admission. `streams`: a slot until the stream ends. `tokens`: reserved, and then the used tokens. */
  readonly unit: LimitUnit;
  /** When the count begins again. A minute begins with its first request. Days and months are those of UTC. `none` for streams. */
  readonly window: LimitWindow;
  /** How many units the account, or the scope, may use in one window. */
  readonly max: number;
  /** How many units of `requests` this request uses: a whole number. By default 1. */
  readonly cost?: number;
  /**
   * Returns the tokens that were used before, for tokens of a day or a month: those of the account, or of all accounts of the scope. Called
   * once for each window when the process or Redis has no count. Without the method, the count begins at 0.
   */
  usedBefore?(from: Date): Promise<number>;
  /** The end of the names of headers: `Model` for `X-RateLimit-Limit-Model`. Without it, the limit has no headers. */
  readonly header?: string;
  /** The limit for people, in the plural, such as `requests per minute to this model`. It follows the number in the error message. */
  readonly label: string;
}

/**
 * Limits of a plugin. They are checked and counted in one step with the limits of the tier, in the process or in Redis, and those of a
 * scope in a step of their own. A request that one limit refuses uses nothing of the others, and gets 429 with `Retry-After`.
 *
 * @experimental
 * @since 1.0
 *
 * @example
 * ```ts
 * limitsOf({ model }) {
 *   if (model !== 'acme/large') return [];
 *   return [{ name: 'acme-large', unit: 'requests', window: 'minute', max: 5, label: 'requests per minute to acme/large' }];
 * }
 * ```
 */
export interface AccountLimits {
  /** Returns the limits of this request. Of several that refuse it, the error names the first. */
  limitsOf(call: LimitedCall): readonly AccountLimit[] | Promise<readonly AccountLimit[]>;
}

/** The limits of plugins. */
export const ACCOUNT_LIMITS = new ExtensionPoint<AccountLimits>('limits');
