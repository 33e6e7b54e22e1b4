import { Inject, Injectable } from '@nestjs/common';
import { rateNamesOf } from '../../throttling/request-rates.js';
import { LabeledCounter } from '../common/counts/counters.js';
import { ERRORS, type ErrorCode } from '../common/service-error.js';
import { CONFIG, type Config } from '../config/config.js';
import { LIMIT_NAMES, limitNameOf } from '../config/limits/limit-table.js';
import { RequestWatch, type FinishedRequest, type RequestObserver } from './request-watch.js';

const NO_ROUTE = 'none';
const NO_ANSWER = 'none';
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The tier of a caller without an account, such as an operator key. */
const NO_TIER = 'none';
const SIGN_IN_LIMIT = `sign_in ${NO_TIER}`;

/** Counts finished requests since the start, for `/metrics` and for the status page. */
@Injectable()
export class RequestCounts implements RequestObserver {
  /** The keys are `<method> <status> <route>`. */
  readonly requests = new LabeledCounter();
  readonly errors = new LabeledCounter<ErrorCode>(Object.keys(ERRORS) as ErrorCode[]);
  /** The keys are `<limit> <tier>`. The limits of all tiers start with the count 0. */
  readonly limits = new LabeledCounter();
  bytes = 0;

  constructor(@Inject(CONFIG) { tiers }: Pick<Config, 'tiers'>, watch: RequestWatch) {
    this.limits.add(SIGN_IN_LIMIT, 0);
    for (const name of rateNamesOf('operator_key')) this.limits.add(`${name} ${NO_TIER}`, 0);
    const rates = rateNamesOf('account');
    for (const tier of tiers.values()) {
      const limits = LIMIT_NAMES.filter((name) => tier[name] !== undefined);
      for (const name of [...limits, ...rates, 'replays']) this.limits.add(`${limitNameOf(name)} ${tier.name}`, 0);
    }
    watch.observe(this);
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
