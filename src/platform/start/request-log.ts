import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Principal } from '../../auth/principal/principal.js';
import { rateNamesOf } from '../../throttling/request-rates.js';
import type { TokenCount, UsageRecord } from '../../usage/record/usage-record.js';
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

const BY_INCREASING_CERTAINTY: readonly TokenCount['source'][] = ['unknown', 'implausible', 'estimated'];

/** Routes that machines request every few seconds. */
const PROBES = /\/health(?:\/ready)?$/;

/** Writes one log line for each request. The line never contains text that a client wrote. */
export class RequestLog implements RequestObserver {
  private readonly logger = new Logger('Request');

  /**
   * @param isDetailed whether probes have lines, and whether a line has the address of the client, by which an operator can
   *   check TRUST_PROXY.
   */
  constructor(private readonly isDetailed = false) {}

  finished(request: FinishedRequest): void {
    const { route } = request;
    if (route === undefined || !PROBES.test(route)) this.logger.log(entryOf(request, this.isDetailed));
    else if (this.isDetailed) this.logger.debug(entryOf(request, true));
  }
}

/** Creates the entry as one object: merging several objects would cost more than all other work for the line. */
function entryOf(request: FinishedRequest, showsAddress: boolean): object {
  const { method, route, status, principal, record } = request;
  const firstTextAt = record?.firstTextAt;
  return {
    msg: `${method} ${route ?? '(no route)'} ${status ?? '(no answer)'}`,
    requestId: request.requestId,
    traceId: request.traceId,
    method,
    route,
    status,
    clientLeft: request.isComplete ? undefined : true,
    errorCode: request.errorCode,
    accountId: principal?.accountId,
    keyPrefix: keyPrefixOf(principal),
    durationMs: Math.round(request.durationMs),
    bytes: request.bytes,
    clientAddress: showsAddress ? request.clientAddress : undefined,
    model: record?.model,
    upstream: record?.upstream,
    attempts: record?.attempts.length,
    durable: request.durable,
    outcome: record?.outcome,
    finishReason: record?.finishReason,
    firstTextMs: firstTextAt === undefined ? undefined : Math.round(firstTextAt - (record?.startedAt ?? firstTextAt)),
    inputTokens: record?.inputTokens.count,
    outputTokens: record?.outputTokens.count,
    tokensSource: record && sourceOf(record),
  };
}

function keyPrefixOf(principal: Principal | undefined): string | undefined {
  return principal?.credential.kind === 'api_key' ? principal.credential.prefix : undefined;
}

/** Returns the less certain of the two sources. */
function sourceOf({ inputTokens, outputTokens }: UsageRecord): TokenCount['source'] {
  const sources = [inputTokens.source, outputTokens.source];
  return BY_INCREASING_CERTAINTY.find((source) => sources.includes(source)) ?? 'reported';
}
