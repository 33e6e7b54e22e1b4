import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { FinishedRequest } from '../../../../../src/plugins/observability/requests/request-watch.js';
import { RequestSpans } from '../../../../../src/plugins/observability/tracing/request-spans.js';
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
