import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Span,
  type Tracer,
  createTraceState,
  isSpanContextValid,
  TraceFlags,
  type SpanContext,
} from '@opentelemetry/api';
import type { IncomingMessage, IncomingHttpHeaders } from 'node:http';
import { FAILED_OUTCOMES } from '../../plugin-api/core/usage.js';
import type { FinishedRequest, RequestScope, ScopedRequest } from '../../plugin-api/core/start.js';

/** The probes of a platform. Their spans would outnumber all others, and show nothing. */
const PROBE = /^\/api\/v1\/health(?:\/ready)?\/?(?:\?|$)/i;

/**
 * Creates a span for each request except probes, and runs the request inside of it. The span joins the trace of the caller, if there is
 * one.
 */
export class RequestSpans implements RequestScope {
  constructor(private readonly tracer: Tracer) {}

  begin({ method = '', url = '', headers }: IncomingMessage): ScopedRequest | undefined {
    if (PROBE.test(url)) return undefined;
    const caller = callerOf(headers);
    const parent = caller === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, caller);
    const attributes = { 'http.request.method': method, 'url.scheme': 'http' };
    const span = this.tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
    const active = trace.setSpan(parent, span);
    return {
      run: (next) => {
        context.with(active, next);
      },
      traceId: span.spanContext().traceId,
      finished: (request) => {
        end(span, request);
      },
    };
  }
}

function end(span: Span, { method, route, status, requestId, errorCode, record }: FinishedRequest): void {
  if (route !== undefined) {
    span.updateName(`${method} ${route}`);
    span.setAttribute('http.route', route);
  }
  if (status !== undefined) span.setAttribute('http.response.status_code', status);
  span.setAttribute('http.response.header.x-request-id', [requestId]);
  if (record !== undefined) span.setAttribute('chat.outcome', record.outcome);
  const isFault = (status ?? 0) >= 500 || (record !== undefined && FAILED_OUTCOMES.includes(record.outcome));
  if (isFault) {
    span.setAttribute('error.type', errorCode ?? String(status));
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

/** Version, trace id, id of the calling span, flags. A later version may add more. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const MAX_TRACESTATE_CHARACTERS = 512;

/** Returns the caller's position in its trace (W3C Trace Context), if the caller sent valid headers. */
export function callerOf({ traceparent, tracestate }: IncomingHttpHeaders): SpanContext | undefined {
  const [, version, traceId, spanId, flags, more] =
    (typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent) : undefined) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  const state = typeof tracestate === 'string' && tracestate.length <= MAX_TRACESTATE_CHARACTERS ? tracestate : '';
  const context: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
    ...(state === '' ? {} : { traceState: createTraceState(state) }),
  };
  return isSpanContextValid(context) ? context : undefined;
}

/** Returns the headers that make the called service part of the trace. */
export function headersOf({ traceId, spanId, traceFlags, traceState }: SpanContext): Record<string, string> {
  const flags = traceFlags.toString(16).padStart(2, '0');
  const state = traceState?.serialize() ?? '';
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(state === '' ? {} : { tracestate: state }) };
}
