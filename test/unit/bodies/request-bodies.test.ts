import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { BodyReader, BodySink } from '../../../src/http/body/read-body.js';
import { RequestBodies } from '../../../src/http/body/request-bodies.js';
import { RequestValidationPipe } from '../../../src/http/request/request-validation.pipe.js';

const JSON_TYPE = { 'content-type': 'application/json' };

class Anything {
  readonly read?: boolean;
  static problems(): [] {
    return [];
  }
}

describe('the body of a request', () => {
  const read = vi.fn();
  let bodies: RequestBodies;

  beforeEach(() => {
    read.mockReset();
    read.mockImplementation((_: unknown, __: unknown, { sink, finish }: { sink: BodySink; finish: () => unknown }) => {
      sink.add(Buffer.from('{"read":true}'));
      return Promise.resolve(finish());
    });
    bodies = new RequestBodies(new Reflector(), { read } as unknown as BodyReader, new RequestValidationPipe());
  });

  function requestOf(method: string, body?: object, headers: object = JSON_TYPE) {
    const request = { method, headers, context: {}, body };
    const context = {
      switchToHttp: () => ({ getRequest: () => request, getResponse: () => ({}) }),
      getHandler: () => Anything,
      getClass: () => Anything,
    };
    return { request, context: context as unknown as ExecutionContext };
  }

  it.each(['POST', 'PUT', 'PATCH'])('of %s is read once, and checked against its class', async (method) => {
    const { request, context } = requestOf(method);
    expect(await bodies.read(context, Anything)).toEqual({});
    expect(request.body).toBeInstanceOf(Anything);
    expect(request.body).toEqual({ read: true });
    const { body } = request;
    await bodies.read(context);
    expect([request.body === body, read.mock.calls.length]).toEqual([true, 1]);
  });

  it('of GET is not read', async () => {
    const { request, context } = requestOf('GET');
    expect(await bodies.read(context)).toEqual({});
    expect([request.body, read.mock.calls.length]).toEqual([undefined, 0]);
  });

  it('that middleware has read is not read again', async () => {
    const parsed = { parsed: true };
    const { request, context } = requestOf('POST', parsed, { 'content-type': 'text/plain' });
    expect(await bodies.read(context)).toEqual({});
    expect([request.body, read.mock.calls.length]).toEqual([parsed, 0]);
  });

  it('that cannot be read fails in the same way for each who asks', async () => {
    read.mockRejectedValue(new Error('broken off'));
    const { context } = requestOf('POST');
    const first = await bodies.read(context);
    expect(first.error).toMatchObject({ message: 'broken off' });
    expect(await bodies.read(context)).toBe(first);
    expect(read).toHaveBeenCalledTimes(1);
  });
});
