import { Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { afterEach, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../src/common/service-error.js';
import { ServiceErrorFilter } from '../../../src/http/errors/service-error.filter.js';

afterEach(() => {
  vi.restoreAllMocks();
});

it('an error that nobody expected is logged with its stack, and the failure of a provider is not logged again', () => {
  const error = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
  const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
  const destroy = vi.fn();
  const answer = (thrown: unknown): void => {
    const request = { context: { requestId: 'r1' } } as unknown as Request;
    new ServiceErrorFilter().answer(thrown, request, { headersSent: true, destroy } as unknown as Response);
  };
  const thrown = new TypeError('x is not a function');

  answer(thrown);
  answer(new ServiceError('upstream_error', 'The provider failed.'));

  expect(error.mock.calls).toEqual([
    [expect.objectContaining({ code: 'internal_error', requestId: 'r1', reason: thrown.message }), thrown.stack],
  ]);
  expect(warn).not.toHaveBeenCalled();
  expect(destroy).toHaveBeenCalledTimes(2);
});
