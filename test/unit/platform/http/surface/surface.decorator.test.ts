import { describe, expect, it } from 'vitest';
import { ServiceError, type ErrorCode } from '../../../../../src/platform/common/service-error.js';
import { retryHeaders } from '../../../../../src/platform/http/surface/surface.decorator.js';

const headersOf = (code: ErrorCode, options?: ConstructorParameters<typeof ServiceError>[2]) =>
  retryHeaders(new ServiceError(code, 'Refused.', options));

describe('the headers by which clients of other APIs retry', () => {
  it.each([
    [{ retryAfterMs: 12_345.2 }, { 'retry-after-ms': '12346' }],
    [{ retryAfterSeconds: 3 }, { 'retry-after-ms': '3000' }],
    [{ retryAfterMs: 0 }, { 'retry-after-ms': '1' }],
    // SDKs take only a time below a minute from the server.
    [{ retryAfterMs: 59_999.4 }, { 'retry-after-ms': '59999' }],
    [{ retryAfterSeconds: 60 }, { 'retry-after-ms': '59999' }],
    [{ retryAfterMs: 60_001 }, { 'retry-after-ms': '60001', 'x-should-retry': 'false' }],
    [{}, {}],
  ])('say the exact time: %j', (options, expected) => {
    expect(headersOf('rate_limit_exceeded', options)).toEqual(expected);
  });

  it.each([
    ['invalid_request', false],
    ['unauthenticated', false],
    ['forbidden', false],
    ['model_not_found', false],
    ['idempotency_conflict', false],
    ['payload_too_large', false],
    ['rate_limit_exceeded', true],
    ['upstream_error', true],
    ['upstream_unavailable', true],
  ] as const)('say whether a retry makes sense: %s', (code, mayRetry) => {
    expect(headersOf(code)).toEqual(mayRetry ? {} : { 'x-should-retry': 'false' });
  });

  it('have whole seconds that are not shorter', () => {
    expect(new ServiceError('unavailable', 'Wait.', { retryAfterMs: 1_001 }).retryAfterSeconds).toBe(2);
    expect(new ServiceError('unavailable', 'Wait.', { retryAfterMs: 0 }).retryAfterSeconds).toBe(1);
  });
});
