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

  it('does not read a body again that middleware has read', async () => {
    const parsed = { parsed: true };
    const { request, context } = requestOf('POST', 'plain', parsed, { 'content-type': 'text/plain' });
    expect(await guard.canActivate(context)).toBe(true);
    expect([request.body, read.mock.calls.length]).toEqual([parsed, 0]);
  });

  it('throws the refusal of a limit instead of the error of the body', async () => {
    read.mockResolvedValue(Buffer.from('{'));
    const refusal = new Error('Too many requests.');
    countRefused.mockRejectedValue(refusal);
    await expect(guard.canActivate(requestOf('POST').context)).rejects.toBe(refusal);
  });
});
