import { LabeledCounter } from '../../../platform/common/counts/counters.js';
import type { TierConfig } from '../../../platform/config/config.js';
import { ERRORS, type ErrorCode } from '../../../platform/common/service-error.js';
import { KEY_LIMITS, LIMIT_NAMES, LIMITS, type LimitDefinition } from '../../../platform/config/limits/limit-table.js';
import { budgetNamesOf } from '../../../throttling/budgets/request-budgets.js';
import type { FinishedRequest, RequestObserver } from '../requests/request-watch.js';
import type { Registry } from 'prom-client';
import { counter } from './families/metric-types.js';

const NO_ROUTE = 'none';
export const NO_ANSWER = 'none';
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const DEFINITIONS: Readonly<Record<string, LimitDefinition | undefined>> = { ...LIMITS, ...KEY_LIMITS };

/** The tier of a caller without an account, such as an operator key. */
const NO_TIER = 'none';
const SIGN_IN_LIMIT = `sign_in ${NO_TIER}`;

/** Counts finished requests. */
export class RequestMetrics implements RequestObserver {
  /** The keys are `<method> <status> <route>`. */
  readonly requests = new LabeledCounter();
  readonly errors = new LabeledCounter<ErrorCode>(Object.keys(ERRORS) as ErrorCode[]);
  /** The keys are `<limit> <tier>`. */
  readonly limits = new LabeledCounter();
  bytes = 0;

  /** @param tiers the tiers whose limits start with the count 0. */
  constructor(tiers: Iterable<TierConfig> = []) {
    this.limits.add(SIGN_IN_LIMIT, 0);
    for (const name of budgetNamesOf('operator_key')) this.limits.add(`${name} ${NO_TIER}`, 0);
    const budgets = budgetNamesOf('account');
    for (const tier of tiers) {
      const limits = LIMIT_NAMES.filter((name) => tier[name] !== undefined);
      for (const name of [...limits, ...budgets, 'replays']) this.limits.add(`${limitNameOf(name)} ${tier.name}`, 0);
    }
  }

  finished({ method, status, route, bytes, errorCode, principal, refusedBy }: FinishedRequest): void {
    const knownMethod = KNOWN_METHODS.has(method) ? method : 'other';
    this.requests.add(`${knownMethod} ${status ?? NO_ANSWER} ${route ?? NO_ROUTE}`);
    this.bytes += bytes;
    if (errorCode === undefined) return;
    this.errors.add(errorCode);
    if (refusedBy !== undefined) this.limits.add(`${limitNameOf(refusedBy)} ${principal?.tier.name ?? NO_TIER}`);
    else if (principal === undefined && errorCode === 'rate_limit_exceeded') this.limits.add(SIGN_IN_LIMIT);
  }
}

/** Returns the name of a limit of the tier or of a key, or of a budget, in the metric. */
export function limitNameOf(name: string): string {
  return DEFINITIONS[name]?.member ?? name;
}

export function registerRequests(registry: Registry, metrics: RequestMetrics): void {
  counter(registry, {
    name: 'chat_http_requests_total',
    help: 'Finished requests. The route is the pattern of the route, or none. The status is none if the client left before an answer.',
    labels: ['method', 'route', 'status'],
    *samples() {
      for (const [name, count] of metrics.requests) {
        const [method = '', status = '', route = ''] = name.split(' ');
        yield [{ method, route, status }, count];
      }
    },
  });
  counter(registry, {
    name: 'chat_http_response_bytes_total',
    help: 'Bytes of answers, including headers, counted when the request is finished.',
    samples: () => [[{}, metrics.bytes]],
  });
  counter(registry, {
    name: 'chat_errors_total',
    help: 'Errors sent to clients, instead of an answer or at the end of an incomplete answer.',
    labels: ['code'],
    *samples() {
      for (const [code, count] of metrics.errors) yield [{ code }, count];
    },
  });
  counter(registry, {
    name: 'chat_limit_rejections_total',
    help: 'Requests refused by a limit of the tier, by a budget of reports or pages, or by a sign-in limit.',
    labels: ['limit', 'tier'],
    *samples() {
      for (const [name, count] of metrics.limits) {
        const [limit = '', tier = ''] = name.split(' ');
        yield [{ limit, tier }, count];
      }
    },
  });
}
