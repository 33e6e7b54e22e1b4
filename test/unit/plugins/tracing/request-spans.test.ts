import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { FinishedRequest } from '../../../../src/platform/start/request-watch.js';
import { RequestSpans, callerOf, headersOf } from '../../../../src/plugins/tracing/request-spans.js';
import { recordingTracer } from './recording-tracer.js';

const ERROR = 2;

describe('the span of a request', () => {
  const ofAnswer = (facts: Partial<FinishedRequest>) => {
    const { tracer, attributes, statuses } = recordingTracer();
    const request = { method: 'POST', url: '/', headers: {} } as IncomingMessage;
    new RequestSpans(tracer).begin(request)?.finished({ requestId: 'r1', ...facts } as FinishedRequest);
    return { attributes, statuses };
  };

  it('is a failure where the service has failed, and not where the client has', () => {
    const failed = ofAnswer({ status: 500, errorCode: 'internal_error' });
    expect(failed).toMatchObject({ statuses: [ERROR], attributes: { 'error.type': 'internal_error' } });
    expect(ofAnswer({ status: 503 })).toMatchObject({ statuses: [ERROR], attributes: { 'error.type': '503' } });
    for (const status of [499, 429, 401, 200, undefined]) {
      const { attributes, statuses } = ofAnswer({ status });
      expect(statuses).toEqual([]);
      expect(attributes).not.toHaveProperty('error.type');
    }
  });
});

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';
const IDS = `${TRACE_ID}-${SPAN_ID}`;

describe('the parent of a request in its trace', () => {
  it('is passed on as it came, without flags that this service does not know', () => {
    const caller = callerOf({ traceparent: `00-${IDS}-ff`, tracestate: 'acme=1,other=2' });
    expect(caller).toMatchObject({ traceId: TRACE_ID, spanId: SPAN_ID, traceFlags: 1, isRemote: true });
    expect(caller && headersOf(caller)).toEqual({ traceparent: `00-${IDS}-01`, tracestate: 'acme=1,other=2' });
  });

  it('is read from a later version, which may add more', () => {
    expect(callerOf({ traceparent: `01-${IDS}-00-more` })).toMatchObject({ traceId: TRACE_ID, traceFlags: 0 });
  });

  it.each([
    ['has a part too many', `00-${IDS}-01-more`],
    ['has the version that is forbidden', `ff-${IDS}-01`],
    ['has no trace', `00-${'0'.repeat(32)}-${SPAN_ID}-01`],
    ['has no span', `00-${TRACE_ID}-${'0'.repeat(16)}-01`],
    ['is in upper case', `00-${IDS.toUpperCase()}-01`],
    ['has something before it', `x00-${IDS}-01`],
  ])('is unknown where traceparent %s', (_, traceparent) => {
    expect(callerOf({ traceparent })).toBeUndefined();
  });

  it('has no tracestate that is too long to be passed on to providers', () => {
    const stateOf = (length: number) =>
      callerOf({ traceparent: `00-${IDS}-01`, tracestate: `acme=${'x'.repeat(length - 5)}` })?.traceState?.serialize();
    expect(
      callerOf({ traceparent: `00-${IDS}-01`, tracestate: `acme=${'x'.repeat(508)}` })?.traceState,
    ).toBeUndefined();
    expect(stateOf(200)).toHaveLength(200);
  });
});
