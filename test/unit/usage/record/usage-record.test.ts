import { describe, expect, it } from 'vitest';
import { defineError, ERRORS, ServiceError, type ErrorCode } from '../../../../src/platform/common/service-error.js';
import { CLIENT_GONE } from '../../../../src/upstreams/completion/part-stream.js';
import { FAILED_OUTCOMES, streamOutcomeOf } from '../../../../src/usage/record/usage-record.js';

describe('the outcome of a stream', () => {
  const outcomes: Partial<Record<ErrorCode, string>> = {
    cancelled: 'client_gone',
    key_revoked: 'revoked',
    shutting_down: 'drained',
    interrupted: 'interrupted',
    upstream_timeout: 'timed_out',
    upstream_error: 'upstream_failed',
    upstream_unavailable: 'upstream_failed',
    upstream_rejected: 'rejected',
    content_filtered: 'rejected',
    invalid_request: 'rejected',
  };

  it.each(Object.keys(ERRORS) as ErrorCode[])('that ends with %s is the one of this code', (code) => {
    expect(streamOutcomeOf(new ServiceError(code, ''))).toBe(outcomes[code] ?? 'failed');
  });

  it.each([
    ['caller', 'rejected'],
    ['service', 'failed'],
    ['provider', 'failed'],
  ] as const)('that ends with the error of a plugin, at the fault of the %s, is %s', (fault, outcome) => {
    const Failure = defineError(`acme_of_${fault}`, { status: 500, fault, description: 'Never.' });
    expect(streamOutcomeOf(new Failure(''))).toBe(outcome);
  });

  it('that ends without a ServiceError is completed, left by its client, or failed', () => {
    expect([undefined, CLIENT_GONE, new Error('x'), null].map(streamOutcomeOf)).toEqual([
      'completed',
      'client_gone',
      'failed',
      'failed',
    ]);
  });

  it('is a failure unless the answer is complete, its client left, or its credential ended', () => {
    expect([...FAILED_OUTCOMES].sort()).toEqual([
      ...['drained', 'failed', 'interrupted', 'rejected', 'timed_out', 'upstream_failed'],
    ]);
  });
});
