import { Logger } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import type { TokenCount, UsageRecord } from '../../usage/usage-record.js';
import type { FinishedRequest, RequestObserver } from './finished-request.js';

/** Asked every few seconds, by machines. */
const PROBES = /\/health(\/ready)?$/;

/** Writes one line for each request. What a client wrote is never in it. */
export class RequestLog implements RequestObserver {
  private readonly logger = new Logger('Request');

  finished(request: FinishedRequest): void {
    const { route } = request;
    if (route !== undefined && PROBES.test(route)) this.logger.debug(entryOf(request));
    else this.logger.log(entryOf(request));
  }
}

function entryOf(request: FinishedRequest): object {
  const { requestId, traceId, method, route, status, principal, errorCode, record, durationMs, bytes, isAnswered } =
    request;
  return {
    msg: `${method} ${route ?? '(no route)'} ${status ?? '(no answer)'}`,
    requestId,
    traceId,
    method,
    route,
    status,
    ...(isAnswered ? undefined : { clientLeft: true }),
    errorCode,
    accountId: principal?.accountId,
    keyPrefix: keyPrefixOf(principal),
    durationMs: Math.round(durationMs),
    bytes,
    ...(record === undefined ? undefined : streamOf(record)),
  };
}

function streamOf({
  model,
  upstream,
  attempts,
  outcome,
  startedAt,
  firstTextAt,
  promptTokens,
  completionTokens,
}: UsageRecord): object {
  return {
    model,
    upstream,
    attempts: attempts.length,
    outcome,
    firstTextMs: firstTextAt === undefined ? undefined : Math.round(firstTextAt - startedAt),
    promptTokens: promptTokens.count,
    completionTokens: completionTokens.count,
    tokensSource: sourceOf(promptTokens, completionTokens),
  };
}

function keyPrefixOf(principal: Principal | undefined): string | undefined {
  return principal?.credential.kind === 'api_key' ? principal.credential.prefix : undefined;
}

/** The less certain of both. */
function sourceOf(...counts: readonly TokenCount[]): TokenCount['source'] {
  const sources = counts.map(({ source }) => source);
  if (sources.includes('unknown')) return 'unknown';
  return sources.includes('estimated') ? 'estimated' : 'reported';
}
