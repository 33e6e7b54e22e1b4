import type { Request, Response } from 'express';
import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { IncomingMessage } from 'node:http';
import { ShedLoad } from '../../../../../src/platform/common/shed-load.js';
import { BodiesInFlight } from '../../../../../src/platform/http/body/bodies-in-flight.js';
import { BodyBytes, BodyReader, ReadingPace } from '../../../../../src/platform/http/body/read-body.js';

const MIB = 1024 * 1024;
const CLIENT = { key: 'one', maxArriving: 1, maxBytes: 4 * MIB };

describe('the reader of bodies', () => {
  let shed: ShedLoad;
  let bodies: BodiesInFlight;
  let reader: BodyReader;
  let body: PassThrough;
  let response: EventEmitter;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    shed = new ShedLoad();
    bodies = new BodiesInFlight(64 * MIB, shed);
    reader = new BodyReader(bodies, { clientOf: () => CLIENT }, shed);
    body = Object.assign(new PassThrough(), { headers: {}, complete: false });
    response = Object.assign(new EventEmitter(), { closed: false });
  });

  const read = async (request: PassThrough = body, maxBytes = MIB) => {
    const bytes = await reader.read(request as unknown as Request, response as unknown as Response, maxBytes);
    return bytes.toString();
  };
  const another = () => Object.assign(new PassThrough(), { headers: {}, complete: false });

  it('refuses a body that is too slow, with the status for it, and frees its slot', async () => {
    const slow = read();
    const refused = expect(slow).rejects.toMatchObject({
      code: 'invalid_request',
      status: 408,
      headers: { Connection: 'close' },
    });
    body.write('Hello');
    await vi.advanceTimersByTimeAsync(29_000);
    body.write('Hello');
    await vi.advanceTimersByTimeAsync(1_500);
    await refused;

    expect(Object.fromEntries(shed.counts)).toMatchObject({ slow_body: 1 });
    expect(body.listenerCount('data')).toBe(0);
    const next = another();
    const text = read(next);
    next.end('x');
    await expect(text).resolves.toContain('x');
  });

  it('refuses a body as soon as it is larger than it may be', async () => {
    const refused = expect(read(body, 10)).rejects.toMatchObject({ code: 'payload_too_large' });
    body.write('x'.repeat(11));
    await refused;
  });

  it('refuses the body of a client that has left before', async () => {
    body.destroy();
    await once(body, 'close');
    await expect(read()).rejects.toMatchObject({ code: 'invalid_request' });
    expect(bodies).toMatchObject({ arriving: { total: 0 }, bytes: { total: 0 } });
  });
});

describe('the bytes of a body', () => {
  it('are in few blocks, however small the pieces are', () => {
    const body = new BodyBytes();
    for (let index = 0; index < 100_000; index++) body.add(Buffer.from([index % 256]));

    expect(body.length).toBe(100_000);
    expect(body).toMatchObject({ blocks: { length: expect.toSatisfy((count: number) => count < 10) as number } });
    expect(body.whole().every((byte, index) => byte === index % 256)).toBe(true);
  });

  it('are the same if they are joined in steps', async () => {
    const body = new BodyBytes();
    const pieces = [70_000, 3, 4_095, 900_000, 2].map((length, index) => Buffer.alloc(length, index));
    for (const piece of pieces) body.add(piece);

    expect((await body.wholeInSteps()).equals(Buffer.concat(pieces))).toBe(true);
    expect((await new BodyBytes().wholeInSteps()).length).toBe(0);
  });
});

describe('the pace of reading', () => {
  const requestOf = () => {
    const calls: string[] = [];
    const request = { pause: () => calls.push('pause'), resume: () => calls.push('resume') };
    return { calls, request: request as unknown as IncomingMessage };
  };

  it('stops reading from a client that has sent too much in a turn, and resumes all of them in the next', async () => {
    const pace = new ReadingPace();
    const [first, second, third] = [requestOf(), requestOf(), requestOf()];
    pace.count(first.request, 3 * MIB);
    pace.count(second.request, MIB);
    pace.count(third.request, MIB);
    expect([first.calls, second.calls, third.calls]).toEqual([[], ['pause'], ['pause']]);

    await new Promise(setImmediate);

    expect([first.calls, second.calls, third.calls]).toEqual([[], ['pause', 'resume'], ['pause', 'resume']]);
    pace.count(third.request, 3 * MIB);
    expect(third.calls).toEqual(['pause', 'resume']);
  });
});
