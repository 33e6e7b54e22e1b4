import { createTraceState, isSpanContextValid, TraceFlags, type SpanContext } from '@opentelemetry/api';
import type { IncomingHttpHeaders } from 'node:http';

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
