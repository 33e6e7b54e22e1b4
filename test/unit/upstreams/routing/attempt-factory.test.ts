import { Logger } from '@nestjs/common';
import { expect, it, vi } from 'vitest';
import { ServiceError } from '../../../../src/platform/common/service-error.js';
import { FailureLog } from '../../../../src/upstreams/routing/attempt-factory.js';

it.each(['internal_error', 'content_filtered', 'invalid_request', 'unavailable'] as const)(
  'the log of failed attempts has no line for %s, which is not a fault of the provider',
  (code) => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const failure = new ServiceError(code, 'Not a fault of the provider.');
    new FailureLog('request-1', 'acme/fast', 'acme').onEnd({ type: 'failed', failure });
    expect(warn).not.toHaveBeenCalled();
  },
);
