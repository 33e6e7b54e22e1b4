import { Logger } from '@nestjs/common';
import type { Principal } from '../../auth/principal/principal.js';
import type { TokenCount, UsageRecord } from '../../usage/record/usage-record.js';
import type { FinishedRequest, RequestObserver } from './request-watch.js';

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
