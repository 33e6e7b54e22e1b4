import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it, vi, type Mock } from 'vitest';
import { ServiceError } from '../../../../src/platform/common/service-error.js';
import { FailureLog } from '../../../../src/upstreams/routing/attempt-factory.js';
import { providerFailure } from '../../../../src/upstreams/contract/provider-failure.js';

describe('the log of a failed attempt', () => {
  let warn: Mock;

  beforeEach(() => {
    warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue() as Mock;
  });

  const failWith = (failure: ServiceError) => {
    new FailureLog('request-1', 'acme/fast', 'acme').onEnd({ type: 'failed', failure });
  };

  it.each(['upstream_error', 'upstream_unavailable', 'upstream_timeout', 'upstream_rejected'] as const)(
    'has one line for %s, with the reason of the provider',
    (code) => {
      failWith(providerFailure(code, 'HTTP 5xx'));
      const line = {
        ...{ requestId: 'request-1', model: 'acme/fast', upstream: 'acme', code, reason: 'HTTP 5xx' },
        cause: { kind: expect.any(String) as string },
      };
      expect(warn.mock.calls).toEqual([[{ msg: 'An upstream failed', ...line }]]);
    },
  );

  it('has the message of a failure without a cause', () => {
    failWith(new ServiceError('upstream_timeout', 'Nothing came.'));
    expect(warn.mock.calls).toMatchObject([[{ reason: 'Nothing came.' }]]);
  });

  it.each(['internal_error', 'content_filtered', 'invalid_request', 'unavailable'] as const)(
    'has no line for %s, which is not a fault of the provider',
    (code) => {
      failWith(new ServiceError(code, 'Not a fault of the provider.'));
      expect(warn).not.toHaveBeenCalled();
    },
  );

  it.each(['complete', 'stopped'] as const)('has no line for an attempt that is %s', (type) => {
    new FailureLog('request-1', 'acme/fast', 'acme').onEnd({ type });
    expect(warn).not.toHaveBeenCalled();
  });
});
