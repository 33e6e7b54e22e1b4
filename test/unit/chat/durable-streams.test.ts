import { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Principal } from '../../../src/auth/principal/principal.js';
import type { ChatService } from '../../../src/chat/chat.service.js';
import { DurableClaimGuard } from '../../../src/chat/durable/durable-claim.guard.js';
import { DurableStreams } from '../../../src/chat/durable/durable-streams.js';
import { CLAIM_RELEASED } from '../../../src/chat/durable/log/stream-log.js';
import { MemoryStreamStore } from '../../../src/chat/durable/store/memory-stream-store.js';
import type { OwnStream } from '../../../src/chat/durable/store/stream-store.js';
import type { OpenStreams } from '../../../src/chat/stream/open-streams.js';
import { DrainState } from '../../../src/common/drain-state.js';
import type { EventLoop } from '../../../src/common/event-loop/event-loop.js';
import { ShedLoad } from '../../../src/common/shed-load.js';
import type { Config } from '../../../src/config/config.js';
import type { RequestBodies } from '../../../src/http/body/request-bodies.js';
import type { LimitStore } from '../../../src/throttling/limit-store.js';
import { StreamPlaces } from '../../../src/throttling/process-load/stream-places.js';
import { claimNew, memoryOf } from '../../contract/durable/describe-stream-store.js';

const CONFIG = { maxStreams: 3, stalledReaderMs: 1_000 } as Config;
const ADA = { accountId: 'ada', tier: { name: 'free' } } as Principal;

/** The response to a request, which nothing is sent on. */
class FakeResponse extends EventEmitter {
  closed = false;
  readonly req: { headers: Record<string, string>; context: object; method: string };

  constructor(headers: Record<string, string> = {}) {
    super();
    this.req = { headers, context: { principal: ADA, requestId: 'request-1' }, method: 'POST' };
  }

  get asResponse(): Response {
    return this as unknown as Response;
  }

  setHeader = vi.fn<(name: string, value: string) => void>();

  leave(): void {
    this.closed = true;
    this.emit('close');
  }
}

let store: MemoryStreamStore;
let places: StreamPlaces;
let drainState: DrainState;
let leftReader: ReturnType<typeof vi.fn<() => void>>;
let streams: DurableStreams;

beforeEach(() => {
  store = new MemoryStreamStore(memoryOf(), 60_000);
  places = new StreamPlaces(CONFIG, { isOverloaded: false } as EventLoop, new ShedLoad());
  drainState = new DrainState();
  leftReader = vi.fn<() => void>();
  const open = { addReader: () => leftReader } as unknown as OpenStreams;
  streams = new DurableStreams(store, {} as ChatService, open, drainState, CONFIG);
});

const placesTaken = (): number => Reflect.get(places, 'taken') as number;
const listenersOfDrain = (): number => (Reflect.get(drainState, 'listeners') as Set<unknown>).size;
const readersOf = (stream: OwnStream): number => Number(stream.readers());

describe('a reader of a durable stream', () => {
  it('holds a place of the process and one of the stream, until it leaves or its response is over', async () => {
    const stream = await claimNew(store);
    stream.leave();
    const [one, other] = [new FakeResponse(), new FakeResponse()];
    const leave = await streams.enter(stream, one.asResponse, places);
    await streams.enter(stream, other.asResponse, places);
    expect([placesTaken(), readersOf(stream)]).toEqual([2, 2]);
    leave();
    expect([placesTaken(), readersOf(stream)]).toEqual([1, 1]);
    one.leave();
    other.leave();
    expect([placesTaken(), readersOf(stream)]).toEqual([0, 0]);
  });

  it('that has left before it is counted holds nothing', async () => {
    const stream = await claimNew(store);
    stream.leave();
    const gone = new FakeResponse();
    gone.leave();
    await streams.enter(stream, gone.asResponse, places);
    expect([placesTaken(), readersOf(stream)]).toEqual([0, 0]);
  });

  it('holds no place of the process where the stream has none for it', async () => {
    const stream = await claimNew(store);
    const none = { ...CONFIG, maxStreams: 100 } as Config;
    places = new StreamPlaces(none, { isOverloaded: false } as EventLoop, new ShedLoad());
    for (let reader = 0; reader < 3; reader++) await streams.enter(stream, new FakeResponse().asResponse, places);
    const refused = streams.enter(stream, new FakeResponse().asResponse, places);
    await expect(refused).rejects.toMatchObject({ code: 'concurrency_limit_exceeded' });
    expect(placesTaken()).toBe(3);
  });

  it('is refused where the process has no place, and the stream counts nobody', async () => {
    const stream = await claimNew(store);
    stream.leave();
    for (let reader = 0; reader < 3; reader++) places.take(new FakeResponse().asResponse);
    const refused = streams.enter(stream, new FakeResponse().asResponse, places);
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
    expect(readersOf(stream)).toBe(0);
  });

  it('waits no longer for the end of the process when it has left', async () => {
    const stream = await claimNew(store);
    stream.log.begin();
    const request = Object.assign(new IncomingMessage(new Socket()), { context: { requestId: 'request-1' } });
    const events = await streams.replay(stream, ADA, new ServerResponse(request) as Response);
    const subscription = events.subscribe();
    expect(listenersOfDrain()).toBe(1);
    subscription.unsubscribe();
    expect([listenersOfDrain(), leftReader.mock.calls.length]).toEqual([0, 1]);
    expect((Reflect.get(stream.log, 'listeners') as Set<unknown>).size).toBe(1);
  });

  it('is told that there is no such stream when it is given up before it begins', async () => {
    const stream = await claimNew(store);
    const replay = streams.replay(stream, ADA, new FakeResponse().asResponse);
    stream.abandon(CLAIM_RELEASED);
    await expect(replay).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a stream in memory', () => {
  it('hears no more of its log after the end', async () => {
    const stream = await claimNew(store);
    stream.log.end({ kind: 'done' });
    expect((Reflect.get(stream.log, 'listeners') as Set<unknown>).size).toBe(0);
    store.onApplicationShutdown();
  });

  it('is dropped at its time, by one timer that ends with the process', async () => {
    vi.useFakeTimers();
    try {
      const [first, second] = [await claimNew(store), await claimNew(store)];
      first.log.end({ kind: 'done' });
      vi.advanceTimersByTime(30_000);
      second.log.end({ kind: 'done' });
      expect([store.counts, vi.getTimerCount()]).toEqual([{ running: 0, kept: 2 }, 1]);
      vi.advanceTimersByTime(30_000);
      expect([store.counts, vi.getTimerCount()]).toEqual([{ running: 0, kept: 1 }, 1]);
      vi.advanceTimersByTime(30_000);
      expect([store.counts, vi.getTimerCount()]).toEqual([{ running: 0, kept: 0 }, 0]);
      (await claimNew(store)).log.end({ kind: 'done' });
      store.onApplicationShutdown();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a request with an Idempotency-Key', () => {
  const BODY = { model: 'acme/fast', messages: [{ role: 'user', content: 'Hello' }] };
  let guard: DurableClaimGuard;

  beforeEach(() => {
    const reflector = { get: () => true } as unknown as Reflector;
    const bodies = { read: () => Promise.resolve({}) } as unknown as RequestBodies;
    guard = new DurableClaimGuard(reflector, bodies, places, store, streams, {} as LimitStore);
  });

  /** Passes the guard. Returns what the guard has found. */
  async function ask(response: FakeResponse): Promise<{ kind: string; stream: OwnStream; error?: Error }> {
    const request = Object.assign(response.req, { body: BODY });
    request.headers['idempotency-key'] = 'one';
    const http = { getRequest: () => request, getResponse: () => response };
    const context = { switchToHttp: () => http, getHandler: () => undefined } as unknown as ExecutionContext;
    expect(await guard.canActivate(context)).toBe(true);
    return Reflect.get(request.context, 'durable') as { kind: string; stream: OwnStream };
  }

  it('that waited for one that was given up has the stream, and counts once', async () => {
    const [first, second] = [new FakeResponse(), new FakeResponse()];
    const owner = await ask(first);
    const waiting = ask(second);
    await vi.waitFor(() => {
      expect(readersOf(owner.stream)).toBe(2);
    });
    first.leave();
    const { kind, stream } = await waiting;
    expect([kind, readersOf(stream), readersOf(owner.stream), placesTaken()]).toEqual(['new', 1, 0, 0]);
    second.leave();
    expect(readersOf(stream)).toBe(0);
    expect(store.counts).toEqual({ running: 0, kept: 0 });
  });

  it('keeps the stream that it has begun when its client leaves', async () => {
    const response = new FakeResponse();
    const own = await ask(response);
    Object.assign(own, { isTaken: true });
    response.leave();
    expect([readersOf(own.stream), store.counts]).toEqual([0, { running: 1, kept: 0 }]);
    expect(response.listenerCount('close')).toBe(0);
  });

  it('gets the failure of the one that it waited for', async () => {
    const owner = await ask(new FakeResponse());
    const waiting = ask(new FakeResponse());
    await vi.waitFor(() => {
      expect(readersOf(owner.stream)).toBe(2);
    });
    const failure = new Error('Too long.');
    owner.stream.abandon(failure);
    expect(await waiting).toMatchObject({ kind: 'refused', error: failure });
    expect(placesTaken()).toBe(0);
  });

  it('for the rest of a stream that is not kept is refused, and the key is free', async () => {
    const refused = await ask(new FakeResponse({ 'last-event-id': 'x-1' }));
    expect(refused).toMatchObject({ kind: 'refused', error: { code: 'not_found' } });
    expect(store.counts).toEqual({ running: 0, kept: 0 });
  });
});
