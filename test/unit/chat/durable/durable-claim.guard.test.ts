import type { ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChatService } from '../../../../src/chat/chat.service.js';
import { DurableClaimGuard } from '../../../../src/chat/durable/durable-claim.guard.js';
import type { DurableRequest } from '../../../../src/chat/durable/durable-request.js';
import { ReplayBudget } from '../../../../src/chat/durable/replay-budget.js';
import { DurableStreams } from '../../../../src/chat/durable/durable-streams.js';
import type { StreamMemory } from '../../../../src/chat/durable/log/stream-memory.js';
import { MemoryStreamStore } from '../../../../src/chat/durable/store/memory-stream-store.js';
import type { OwnStream } from '../../../../src/chat/durable/store/stream-store.js';
import type { OpenStreams } from '../../../../src/chat/stream/open-streams.js';
import { DrainState } from '../../../../src/common/drain-state.js';
import type { EventLoop } from '../../../../src/common/event-loop/event-loop.js';
import { ShedLoad } from '../../../../src/common/shed-load.js';
import type { Config } from '../../../../src/config/config.js';
import type { RequestLimiter } from '../../../../src/throttling/request-limiter.js';
import { StreamSlots } from '../../../../src/throttling/process-load/stream-slots.js';
import { memoryOf } from '../../../contract/durable/describe-stream-store.js';
import { FakeResponse } from './fake-response.js';

const PATIENCE = { timeout: 30_000 };

const CONFIG = { maxStreams: 3, stalledReaderMs: 1_000 } as Config;
const EMPTY_STREAM_BYTES = 1_024;
const BODY = { model: 'acme/fast', messages: [{ role: 'user', content: 'Hello' }] };

let memory: StreamMemory;
let store: MemoryStreamStore;
let slots: StreamSlots;
let guard: DurableClaimGuard;
const showLimits = vi.fn(() => Promise.resolve());

beforeEach(() => {
  memory = memoryOf();
  store = new MemoryStreamStore(memory, 60_000);
  showLimits.mockClear();
  slots = new StreamSlots(CONFIG, { isOverloaded: false } as EventLoop, new ShedLoad());
  const streams = new DurableStreams(
    store,
    {} as ChatService,
    {} as OpenStreams,
    new DrainState(),
    new ReplayBudget(),
    CONFIG,
  );
  const reflector = { get: () => ({ conversationOf: (body: object) => body }) } as unknown as Reflector;
  guard = new DurableClaimGuard(reflector, slots, store, streams, { showLimits } as unknown as RequestLimiter);
});

const slotsTaken = (): number => Reflect.get(slots, 'taken') as number;
const readersOf = (stream: OwnStream): number => Number(stream.readers());

/** Passes the guard. Returns what the guard has found. */
async function claim(response: FakeResponse): Promise<DurableRequest | undefined> {
  const request = Object.assign(response.req, { body: BODY });
  request.headers['idempotency-key'] = 'one';
  const http = { getRequest: () => request, getResponse: () => response };
  const context = { switchToHttp: () => http, getHandler: () => undefined } as unknown as ExecutionContext;
  expect(await guard.canActivate(context)).toBe(true);
  return Reflect.get(request.context, 'durable') as DurableRequest | undefined;
}

/** Passes the guard with a key that is free. */
async function own(response: FakeResponse): Promise<DurableRequest & { kind: 'new' }> {
  const durable = await claim(response);
  if (durable?.kind !== 'new') throw new Error(`The request is ${String(durable?.kind)}.`);
  return durable;
}

describe('a request with an Idempotency-Key', () => {
  it('that waited for one that was given up has the stream, and counts once', async () => {
    const [first, second] = [new FakeResponse(), new FakeResponse()];
    const owner = await own(first);
    const waiting = own(second);
    await vi.waitFor(() => {
      expect(readersOf(owner.stream)).toBe(2);
    }, PATIENCE);
    first.leave();
    const { kind, stream } = await waiting;
    expect([kind, readersOf(stream), readersOf(owner.stream), slotsTaken()]).toEqual(['new', 1, 0, 0]);
    second.leave();
    expect(readersOf(stream)).toBe(0);
    expect(store.counts).toEqual({ running: 0, retained: 0 });
  });

  it('holds the memory of its messages until the stream is given up', async () => {
    const response = new FakeResponse();
    await own(response);
    expect(memory.used).toBe(EMPTY_STREAM_BYTES + 'Hello'.length);
    response.leave();
    expect(memory.used).toBe(0);
  });

  it('keeps the stream that it has begun when its client leaves', async () => {
    const response = new FakeResponse();
    const durable = await own(response);
    Object.assign(durable, { isTaken: true });
    response.leave();
    expect([readersOf(durable.stream), store.counts]).toEqual([0, { running: 1, retained: 0 }]);
    expect(response.listenerCount('close')).toBe(0);
  });

  it('gets the failure of the one that it waited for', async () => {
    const owner = await own(new FakeResponse());
    const waiting = claim(new FakeResponse());
    await vi.waitFor(() => {
      expect(readersOf(owner.stream)).toBe(2);
    }, PATIENCE);
    const failure = new Error('Too long.');
    owner.stream.abandon(failure);
    await expect(waiting).rejects.toBe(failure);
    expect(showLimits).toHaveBeenCalledTimes(1);
    expect(slotsTaken()).toBe(0);
  });

  it('to resume a stream that is not stored is refused, and the key and the memory are free', async () => {
    const refused = claim(new FakeResponse({ 'last-event-id': 'x-1' }));
    await expect(refused).rejects.toMatchObject({ code: 'not_found' });
    expect([store.counts, memory.used]).toEqual([{ running: 0, retained: 0 }, 0]);
  });

  it('whose client has left meanwhile claims no key', async () => {
    const gone = new FakeResponse();
    gone.leave();
    await claim(gone).catch(() => undefined);
    expect(store.counts).toEqual({ running: 0, retained: 0 });
  });
});
