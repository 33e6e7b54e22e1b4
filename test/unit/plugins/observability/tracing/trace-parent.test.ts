import { describe, expect, it } from 'vitest';
import { callerOf, headersOf } from '../../../../../src/plugins/observability/tracing/request-spans.js';

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
