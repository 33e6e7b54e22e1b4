import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Allow } from 'class-validator';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { BodyClass } from '../../../../../src/platform/http/body/body-class.decorator.js';
import type { BodyReader } from '../../../../../src/platform/http/body/read-body.js';
import { RequestBodyGuard } from '../../../../../src/platform/http/body/request-body.guard.js';
import { RequestValidationPipe } from '../../../../../src/platform/http/request/request-validation.pipe.js';

const JSON_TYPE = { 'content-type': 'application/json', 'content-length': '13' };

class Anything {
  @Allow()
  readonly read?: boolean;
}

class Routes {
  @BodyClass(Anything)
  validated(): void {
    // Only its metadata matters.
  }

  plain(): void {
    // Only its metadata matters.
  }
}

describe('the guard of bodies', () => {
  const read = vi.fn();
  const countRefused = vi.fn();
  let guard: RequestBodyGuard;

  beforeEach(() => {
    read.mockReset().mockResolvedValue(Buffer.from('{"read":true}'));
    countRefused.mockReset().mockResolvedValue(undefined);
    const reader = { read } as unknown as BodyReader;
    guard = new RequestBodyGuard(new Reflector(), reader, new RequestValidationPipe(), { countRefused });
  });

  function requestOf(method: string, route: keyof Routes = 'validated', body?: object, headers: object = JSON_TYPE) {
    const request = { method, headers, context: {}, body };
    const context = {
      switchToHttp: () => ({ getRequest: () => request, getResponse: () => ({}) }),
      getHandler: () => Routes.prototype[route],
      getClass: () => Routes,
    };
    return { request, context: context as unknown as ExecutionContext };
  }

  it.each(['POST', 'PUT', 'PATCH'])(
    'reads the body of %s, and validates it against the class of the route',
    async (method) => {
      const { request, context } = requestOf(method);
      expect(await guard.canActivate(context)).toBe(true);
      expect(request.body).toBeInstanceOf(Anything);
      expect(request.body).toEqual({ read: true });
      expect(countRefused).not.toHaveBeenCalled();
    },
  );

  it('leaves the validation of a route without a class to the pipe', async () => {
    const { request, context } = requestOf('POST', 'plain');
    await guard.canActivate(context);
    expect(request.body).not.toBeInstanceOf(Anything);
    expect(request.body).toEqual({ read: true });
  });

  it('does not read the body of GET', () => {
    const { request, context } = requestOf('GET');
    expect(guard.canActivate(context)).toBe(true);
    expect([request.body, read.mock.calls.length]).toEqual([undefined, 0]);
  });

  it('does not read a body again that middleware has read', async () => {
    const parsed = { parsed: true };
    const { request, context } = requestOf('POST', 'plain', parsed, { 'content-type': 'text/plain' });
    expect(await guard.canActivate(context)).toBe(true);
    expect([request.body, read.mock.calls.length]).toEqual([parsed, 0]);
  });

  it.each<[string, Buffer | Error, object]>([
    ['cannot be read', new Error('broken off'), { message: 'broken off' }],
    ['is not JSON', Buffer.from('{'), { code: 'invalid_request' }],
    ['is invalid', Buffer.from('{"other":1}'), { details: [{ field: 'other', message: 'is not a known member' }] }],
  ])('throws at once when the body %s, after the request was counted', async (_, result, error) => {
    if (result instanceof Error) read.mockRejectedValue(result);
    else read.mockResolvedValue(result);
    await expect(guard.canActivate(requestOf('POST').context)).rejects.toMatchObject(error);
    expect(countRefused).toHaveBeenCalledTimes(1);
  });

  it('throws the refusal of a limit instead of the error of the body', async () => {
    read.mockResolvedValue(Buffer.from('{'));
    const refusal = new Error('Too many requests.');
    countRefused.mockRejectedValue(refusal);
    await expect(guard.canActivate(requestOf('POST').context)).rejects.toBe(refusal);
  });
});
