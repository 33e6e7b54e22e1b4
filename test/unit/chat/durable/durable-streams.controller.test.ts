import { EMPTY, NEVER } from 'rxjs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { DurableStreams } from '../../../../src/chat/durable/durable-streams.js';
import { DurableStreamsController } from '../../../../src/chat/durable/durable-streams.controller.js';
import type { StoredStream } from '../../../../src/chat/durable/store/stream-store.js';
import type { StreamSlots } from '../../../../src/throttling/process-load/stream-slots.js';
import { Latch } from '../../../support/latch.js';
import { ADA, FakeResponse } from './fake-response.js';

const slots = {} as StreamSlots;

let stopped: Latch;
let stream: StoredStream;
let entered: Latch;
let streams: { [Method in 'find' | 'enter' | 'replay']: ReturnType<typeof vi.fn<DurableStreams[Method]>> };
let controller: DurableStreamsController;
let response: FakeResponse;

beforeEach(() => {
  [stopped, entered] = [new Latch(), new Latch()];
  stream = { id: 'stream', cancel: () => stopped.opened } as StoredStream;
  streams = {
    find: vi.fn<DurableStreams['find']>().mockResolvedValue(stream),
    enter: vi.fn<DurableStreams['enter']>().mockReturnValue(entered.opened.then(() => () => undefined)),
    replay: vi.fn<DurableStreams['replay']>().mockResolvedValue(NEVER),
  };
  controller = new DurableStreamsController(streams as unknown as DurableStreams, slots);
  response = new FakeResponse();
});

const turn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

describe('the route of a stream', () => {
  it('is read by a reader who has a slot, which is recorded as a repetition', async () => {
    response.req.method = 'GET';
    const read = controller.read('stream', ADA, response.asResponse);
    await turn();
    expect(streams.find.mock.calls).toEqual([['stream', ADA]]);
    expect(response.req.context).toMatchObject({ durable: { kind: 'repeated', stream } });
    expect(streams.enter.mock.calls).toEqual([[stream, response, slots]]);
    expect(streams.replay).not.toHaveBeenCalled();
    entered.open();
    expect(await read).toBe(NEVER);
    expect(streams.replay.mock.calls).toEqual([[stream, ADA, response]]);
  });

  it('has no reader for HEAD, which finds out only whether there is a stream', async () => {
    response.req.method = 'HEAD';
    expect(await controller.read('stream', ADA, response.asResponse)).toBe(EMPTY);
    expect([streams.find.mock.calls.length, streams.enter.mock.calls, streams.replay.mock.calls]).toEqual([1, [], []]);
    expect(response.req.context).not.toHaveProperty('durable');
  });

  it('answers a cancel when the stream has stopped', async () => {
    const answered = vi.fn();
    const cancelled = controller.cancel('stream', ADA).then(answered);
    await turn();
    expect([streams.find.mock.calls, answered.mock.calls]).toEqual([[['stream', ADA]], []]);
    stopped.open();
    await cancelled;
    expect(answered).toHaveBeenCalledTimes(1);
  });
});
