import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Principal } from '../../../../src/auth/principal/principal.js';
import type { ChatService } from '../../../../src/chat/chat.service.js';
import { DurableStreams } from '../../../../src/chat/durable/durable-streams.js';
import { ReplayBudget } from '../../../../src/chat/durable/replay-budget.js';
import { CLAIM_RELEASED } from '../../../../src/chat/durable/log/stream-log.js';
import { MemoryStreamStore } from '../../../../src/chat/durable/store/memory-stream-store.js';
import type { OwnStream } from '../../../../src/chat/durable/store/stream-store.js';
import type { EndStream, OpenStreams } from '../../../../src/chat/stream/open-streams.js';
import { DrainState } from '../../../../src/common/drain-state.js';
import type { EventLoop } from '../../../../src/common/event-loop/event-loop.js';
import { ServiceError } from '../../../../src/common/service-error.js';
import { ShedLoad } from '../../../../src/common/shed-load.js';
import type { Config } from '../../../../src/config/config.js';
import { StreamSlots } from '../../../../src/throttling/process-load/stream-slots.js';
import { claimNew, memoryOf } from '../../../contract/durable/describe-stream-store.js';
import { ADA, FakeResponse } from './fake-response.js';

const CONFIG = { maxStreams: 3, stalledReaderMs: 1_000 } as Config;

let store: MemoryStreamStore;
let slots: StreamSlots;
let drainState: DrainState;
let leftReader: ReturnType<typeof vi.fn<() => void>>;
let revoke: EndStream;
let streams: DurableStreams;

beforeEach(() => {
  store = new MemoryStreamStore(memoryOf(), 60_000);
  slots = new StreamSlots(CONFIG, { isOverloaded: false } as EventLoop, new ShedLoad());
  drainState = new DrainState();
  leftReader = vi.fn<() => void>();
  const open = {
    addReader: (_: Principal, end: EndStream) => {
      revoke = end;
      return leftReader;
    },
  } as unknown as OpenStreams;
  streams = new DurableStreams(store, {} as ChatService, open, drainState, new ReplayBudget(), CONFIG);
});

const slotsTaken = (): number => Reflect.get(slots, 'taken') as number;
const listenersOfDrain = (): number => (Reflect.get(drainState, 'listeners') as Set<unknown>).size;
const readersOf = (stream: OwnStream): number => Number(stream.readers());

/** A client that reads a stream which has begun. */
async function replayed(stream: OwnStream) {
  stream.log.begin();
  const socket = new Socket();
  const request = Object.assign(new IncomingMessage(socket), { context: { requestId: 'request-1' } });
  const response = new ServerResponse(request);
  response.assignSocket(socket);
  const limited = vi.spyOn(socket, 'setTimeout');
  const events: MessageEvent[] = [];
  const over = vi.fn<() => void>();
  const subscription = (await streams.replay(stream, ADA, response as Response)).subscribe({
    next: (event) => events.push(event),
    complete: over,
  });
  return { subscription, events, over, limited };
}

describe('a reader of a durable stream', () => {
  it('holds a slot of the process and one of the stream, until it leaves or its response is over', async () => {
    const stream = await claimNew(store);
    stream.leave();
    const [one, other] = [new FakeResponse(), new FakeResponse()];
    const leave = await streams.enter(stream, one.asResponse, slots);
    await streams.enter(stream, other.asResponse, slots);
    expect([slotsTaken(), readersOf(stream)]).toEqual([2, 2]);
    leave();
    expect([slotsTaken(), readersOf(stream)]).toEqual([1, 1]);
    one.leave();
    other.leave();
    expect([slotsTaken(), readersOf(stream)]).toEqual([0, 0]);
  });

  it('that has left before it is counted holds nothing', async () => {
    const stream = await claimNew(store);
    stream.leave();
    const gone = new FakeResponse();
    gone.leave();
    await streams.enter(stream, gone.asResponse, slots);
    expect([slotsTaken(), readersOf(stream)]).toEqual([0, 0]);
  });

  it('holds no slot of the process where the stream has none for it', async () => {
    const stream = await claimNew(store);
    const none = { ...CONFIG, maxStreams: 100 } as Config;
    slots = new StreamSlots(none, { isOverloaded: false } as EventLoop, new ShedLoad());
    for (let reader = 0; reader < 3; reader++) await streams.enter(stream, new FakeResponse().asResponse, slots);
    const refused = streams.enter(stream, new FakeResponse().asResponse, slots);
    await expect(refused).rejects.toMatchObject({ code: 'concurrency_limit_exceeded' });
    expect(slotsTaken()).toBe(3);
  });

  it('leaves three quarters of the slots of the process to other accounts', async () => {
    const wide = { ...CONFIG, maxStreams: 20 } as Config;
    slots = new StreamSlots(wide, { isOverloaded: false } as EventLoop, new ShedLoad());
    streams = new DurableStreams(store, {} as ChatService, {} as OpenStreams, drainState, new ReplayBudget(), wide);
    const [one, other] = [await claimNew(store), await claimNew(store)];
    for (const { leave } of [one, other]) leave();
    const readers = Array.from({ length: 5 }, () => new FakeResponse());
    for (const [index, { asResponse }] of readers.entries())
      await streams.enter(index < 4 ? one : other, asResponse, slots);
    const another = () => streams.enter(other, new FakeResponse().asResponse, slots);
    await expect(another()).rejects.toMatchObject({ code: 'concurrency_limit_exceeded' });
    readers[0]?.leave();
    await another();
    expect(slotsTaken()).toBe(5);
  });

  it('is refused where the process has no slot, and the stream counts no reader', async () => {
    const stream = await claimNew(store);
    stream.leave();
    for (let reader = 0; reader < 3; reader++) slots.take(new FakeResponse().asResponse);
    const refused = streams.enter(stream, new FakeResponse().asResponse, slots);
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
    expect(readersOf(stream)).toBe(0);
  });

  it('waits no longer for the end of the process when it has left', async () => {
    const stream = await claimNew(store);
    const { subscription } = await replayed(stream);
    expect(listenersOfDrain()).toBe(1);
    subscription.unsubscribe();
    expect([listenersOfDrain(), leftReader.mock.calls.length]).toEqual([0, 1]);
    expect((Reflect.get(stream.log, 'listeners') as Set<unknown>).size).toBe(1);
  });

  it('gets an error that there is no such stream when the request is aborted before the stream begins', async () => {
    const stream = await claimNew(store);
    const replay = streams.replay(stream, ADA, new FakeResponse().asResponse);
    stream.abandon(CLAIM_RELEASED);
    await expect(replay).rejects.toMatchObject({ code: 'not_found' });
  });

  it('gets the reason when its credential ends, and the stream goes on', async () => {
    const stream = await claimNew(store);
    const { events, over } = await replayed(stream);
    revoke(new ServiceError('key_revoked', 'The session has ended.'));
    expect(events).toMatchObject([{ type: 'error', data: { error: { code: 'key_revoked' } } }]);
    expect([over.mock.calls.length, leftReader.mock.calls.length]).toEqual([1, 1]);
    expect(stream.log.ending).toBeUndefined();
  });

  it('is sent to another replica when the process stops, in the time of a client that does not read', async () => {
    const stream = await claimNew(Object.assign(store, { isShared: true }));
    const { events, over, limited } = await replayed(stream);
    expect(limited).not.toHaveBeenCalled();
    drainState.begin();
    expect([events, over.mock.calls.length, limited.mock.calls]).toEqual([[], 1, [[CONFIG.stalledReaderMs]]]);
    expect([leftReader.mock.calls.length, stream.log.ending]).toEqual([1, undefined]);
  });

  it('is sent to another replica when the process began to stop while it waited for the first text', async () => {
    const stream = await claimNew(Object.assign(store, { isShared: true }));
    const replay = streams.replay(stream, ADA, new FakeResponse().asResponse);
    drainState.begin();
    stream.log.begin();
    await expect(replay).rejects.toMatchObject({ code: 'shutting_down' });
    expect([listenersOfDrain(), streams.replays]).toEqual([0, 0]);
  });

  it('reads on when the only process stops', async () => {
    const stream = await claimNew(store);
    const { subscription, events, over, limited } = await replayed(stream);
    drainState.begin();
    expect([over.mock.calls.length, limited.mock.calls]).toEqual([0, []]);
    stream.log.append('Hello');
    expect(events).toMatchObject([{ data: { content: 'Hello' } }]);
    subscription.unsubscribe();
  });
});
