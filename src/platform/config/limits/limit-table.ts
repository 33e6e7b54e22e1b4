import type { ErrorCode } from '../../common/service-error.js';

/** What a limit counts. */
export type LimitUnit =
  /** A request counts when it is admitted. */
  | 'requests'
  /** A stream holds a slot until it ends. */
  | 'streams'
  /** A request reserves tokens when it is admitted. The used tokens replace the reserved tokens when the stream ends. */
  | 'tokens';

/**
 * The period after which a count begins again. A minute begins with its first request. A day and a month are those of the calendar in
 * UTC. `none`: the limit counts only what is held now.
 */
export type LimitWindow = 'none' | 'minute' | 'day' | 'month';

/** A row of {@link LIMITS}. */
export interface LimitDefinition {
  readonly unit: LimitUnit;
  readonly window: LimitWindow;
  /** The name of the limit in CONFIG_FILE and in metrics. */
  readonly member: string;
  /** The name of the limit for people, such as `requests per minute`. */
  readonly label: string;
  /** What follows `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`. `undefined`: the limit has no headers. */
  readonly header: string | undefined;
  /** The error code of a request that the limit refuses. */
  readonly code: ErrorCode;
  /** For the documentation of CONFIG_FILE. */
  readonly description: string;
}

/**
 * The limits that a tier can have. This is the only list of them: the configuration and its documentation, the limit stores, the
 * headers, the errors, the metrics, the pages and the OpenAPI document follow it.
 */
export const LIMITS = {
  requestsPerMinute: {
    unit: 'requests',
    window: 'minute',
    member: 'requests_per_minute',
    label: 'requests per minute',
    header: '',
    code: 'rate_limit_exceeded',
    description: 'The maximum number of requests per minute. A minute starts with its first request.',
  },
  concurrentStreams: {
    unit: 'streams',
    window: 'none',
    member: 'concurrent_streams',
    label: 'concurrent streams',
    header: undefined,
    code: 'concurrency_limit_exceeded',
    description: 'The maximum number of concurrent streams.',
  },
  tokensPerMinute: {
    unit: 'tokens',
    window: 'minute',
    member: 'tokens_per_minute',
    label: 'tokens per minute',
    header: '-Tokens-Minute',
    code: 'rate_limit_exceeded',
    description:
      'The maximum number of input and output tokens together, per minute. A minute starts with its first request. The tokens of a running stream count in each minute.',
  },
  tokensPerDay: {
    unit: 'tokens',
    window: 'day',
    member: 'tokens_per_day',
    label: 'tokens per day',
    header: '-Tokens',
    code: 'quota_exceeded',
    description: 'The maximum number of input and output tokens together, per UTC day.',
  },
} as const satisfies Record<string, LimitDefinition>;

export type LimitName = keyof typeof LIMITS;

export const LIMIT_NAMES = Object.keys(LIMITS) as readonly LimitName[];

/** The limits that a tier sets for each account, by name. A missing limit means unlimited. */
export type TierLimits = { readonly [Name in LimitName]?: number | undefined };

/** The limits that a single API key can have, in addition to the limits of its tier. The rows have the form of {@link LIMITS}. */
export const KEY_LIMITS = {
  keyRequestsPerMinute: {
    unit: 'requests',
    window: 'minute',
    member: 'key_requests_per_minute',
    label: 'requests per minute',
    header: '',
    code: 'rate_limit_exceeded',
    description: 'The maximum number of requests of the key per minute.',
  },
  keyTokensPerDay: {
    unit: 'tokens',
    window: 'day',
    member: 'key_tokens_per_day',
    label: 'tokens per day',
    header: '-Tokens',
    code: 'quota_exceeded',
    description: 'The maximum number of input and output tokens of the key together, per UTC day.',
  },
} as const satisfies Record<string, LimitDefinition>;

const DEFINITIONS: Readonly<Record<string, LimitDefinition | undefined>> = { ...LIMITS, ...KEY_LIMITS };

/** Returns the name of a limit of the tier or of a key, or of a budget, in metrics and in the sample of refused requests. */
export function limitNameOf(name: string): string {
  return DEFINITIONS[name]?.member ?? name;
}
