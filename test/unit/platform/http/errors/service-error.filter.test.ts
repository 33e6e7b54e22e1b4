import { Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { expect, it, vi } from 'vitest';
import { ServiceError } from '../../../../../src/platform/common/service-error.js';
import { ServiceErrorFilter } from '../../../../../src/platform/http/errors/service-error.filter.js';

it('an unexpected error is logged with its stack, and failures of a provider or a caller are not', () => {
  const error = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
  const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
  const destroy = vi.fn();
  const answer = (thrown: unknown): void => {
    const request = { context: { requestId: 'r1' } } as unknown as Request;
    new ServiceErrorFilter().respond(thrown, request, { headersSent: true, destroy } as unknown as Response);
  };
  const thrown = new TypeError('x is not a function');

  answer(thrown);
  answer(new ServiceError('upstream_error', 'The provider failed.'));
  answer(new ServiceError('rate_limit_exceeded', 'The caller sends too much.'));

  expect(error.mock.calls).toEqual([
    [expect.objectContaining({ code: 'internal_error', requestId: 'r1', reason: thrown.message }), thrown.stack],
  ]);
  expect(warn).not.toHaveBeenCalled();
  expect(destroy).toHaveBeenCalledTimes(3);
});

it('work that was stopped for a client whose socket is gone, and whose response is about to close, is no error', () => {
  const error = vi.spyOn(Logger.prototype, 'error').mockClear();
  const request = { context: { requestId: 'r1' }, socket: { destroyed: true } } as unknown as Request;
  new ServiceErrorFilter().respond(AbortSignal.abort().reason, request, { req: request, closed: false } as Response);
  expect(error).not.toHaveBeenCalled();
});
