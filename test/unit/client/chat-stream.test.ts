import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ChatClient, type ConnectionEvent, type StreamOptions } from '../../../src/client.js';
import { eventParser } from '../../../src/client/chat-stream.js';

const REQUEST = { model: 'acme/fast', messages: [{ role: 'user' as const, content: 'Hello!' }] };
const DONE = 'data: {"content":"","done":true}\n\n';
const part = (id: number, content: string) => `id: ${id}\ndata: ${JSON.stringify({ content, done: false })}\n\n`;
const durable = (...blocks: string[]) =>
  new Response(blocks.join(''), { headers: { 'content-type': 'text/event-stream', 'x-stream-id': 's1' } });
const networkError = () => new TypeError('network error');

/** The events of a browser's network, on the global object. */
function browserNetwork() {
  const target = new EventTarget();
  vi.stubGlobal('addEventListener', target.addEventListener.bind(target));
  vi.stubGlobal('removeEventListener', target.removeEventListener.bind(target));
  return {
    report: (name: 'online' | 'offline') => {
      target.dispatchEvent(new Event(name));
    },
  };
}

describe('a durable stream that loses its connection', () => {
  let calls: number;
  let events: ConnectionEvent[];
  let answers: (Response | Error | ((signal: AbortSignal) => Response))[];
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(1);
    calls = 0;
    events = [];
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });

  function ask(options: StreamOptions = {}): Promise<{ readonly text: string }> {
    const client = new ChatClient({
      baseUrl: 'https://chat.example',
      fetch: (_, init) => {
        calls++;
        const answer = answers.shift() ?? networkError();
        if (answer instanceof Error) return Promise.reject(answer);
        return Promise.resolve(typeof answer === 'function' ? answer(init?.signal as AbortSignal) : answer);
      },
    });
    const onConnection = (event: ConnectionEvent) => void events.push(event);
    return client.complete(REQUEST, { idempotencyKey: 'key', onConnection, ...options });
  }
  const types = () => events.map(({ type }) => type);

  it('reports when the connection is lost, when it connects again, and when it continues', async () => {
    vi.setSystemTime(1_000);
    answers = [durable(part(1, 'Hel')), networkError(), durable(part(2, 'lo'), DONE)];
    const answer = ask();
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await answer).text).toBe('Hello');
    expect(events).toEqual([
      { type: 'lost', lastTextAt: 1_000, error: expect.objectContaining({ kind: 'cut' }) as unknown },
      { type: 'reconnecting', attempt: 1 },
      { type: 'reconnecting', attempt: 2 },
      { type: 'resumed', attempts: 2 },
    ]);
  });

  it('does not know a time of the last text before the first text', async () => {
    answers = [networkError(), durable(part(1, 'Hello'), DONE)];
    const answer = ask();
    await vi.advanceTimersByTimeAsync(1_000);
    await answer;
    expect(events[0]).toMatchObject({ type: 'lost', lastTextAt: undefined, error: { kind: 'unreachable' } });
  });

  it('reconnects for as long as the service keeps the stream, if there is no limit', async () => {
    answers = [durable(part(1, 'Hel'))];
    const answer = ask({ maxReconnects: Infinity });
    const gone = expect(answer).rejects.toMatchObject({ kind: 'refused', status: 404, partialText: 'Hel' });
    await vi.advanceTimersByTimeAsync(3_600_000);
    // The pauses are 0.25 + 0.5 + 1 + 2 + 4 + 8 s, and then 10 s each.
    expect(calls).toBe(1 + 6 + Math.floor((3_600 - 15.75) / 10));
    answers = [new Response('', { status: 404 })];
    await vi.advanceTimersByTimeAsync(10_000);
    await gone;
    expect(vi.getTimerCount()).toBe(0);
  });

  it('spreads the attempts of many clients', async () => {
    vi.mocked(Math.random).mockReturnValue(0);
    answers = [durable(part(1, 'Hel')), durable(part(2, 'lo'), DONE)];
    const answer = ask();
    await vi.advanceTimersByTimeAsync(124);
    expect(calls).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect((await answer).text).toBe('Hello');
  });

  it('waits before each request to a service that sends Retry-After: 0', async () => {
    const busy = () => new Response('', { status: 503, headers: { 'retry-after': '0' } });
    answers = [durable(part(1, 'Hel')), busy(), busy(), durable(part(2, 'lo'), DONE)];
    const answer = ask();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls).toBe(3);
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await answer).text).toBe('Hello');
  });

  it('connects at once when the browser is online again, and leaves no listener behind', async () => {
    const network = browserNetwork();
    const removed = vi.spyOn(globalThis, 'removeEventListener');
    const added = vi.spyOn(globalThis, 'addEventListener');
    answers = [durable(part(1, 'Hel')), networkError(), networkError(), networkError(), networkError(), networkError()];
    const answer = ask({ maxReconnects: Infinity });
    await vi.advanceTimersByTimeAsync(8_000);
    expect(calls).toBe(6);
    answers = [durable(part(2, 'lo'), DONE)];
    network.report('online');
    await vi.advanceTimersByTimeAsync(0);
    expect((await answer).text).toBe('Hello');
    expect(removed.mock.calls).toHaveLength(added.mock.calls.length);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not wait for the connection to break when the browser is offline', async () => {
    const network = browserNetwork();
    answers = [
      (signal) => {
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(part(1, 'Hel')));
            signal.addEventListener('abort', () => {
              controller.error(signal.reason);
            });
          },
        });
        return new Response(body, { headers: { 'content-type': 'text/event-stream', 'x-stream-id': 's1' } });
      },
      durable(part(2, 'lo'), DONE),
    ];
    const answer = ask();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(types()).toEqual([]);
    network.report('offline');
    await vi.advanceTimersByTimeAsync(0);
    expect(types()).toEqual(['lost']);
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await answer).text).toBe('Hello');
    expect(types()).toEqual(['lost', 'reconnecting', 'resumed']);
  });

  it('has a separate time limit for the head of a response, and repeats the request for four minutes', async () => {
    const waits = (signal: AbortSignal) =>
      new Promise<Response>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(new Error('aborted'));
        });
      });
    const client = new ChatClient({
      baseUrl: 'https://chat.example',
      fetch: (_, init) => {
        calls++;
        return waits(init?.signal as AbortSignal);
      },
    });
    const options = { idempotencyKey: 'key', maxReconnects: Infinity, idleTimeoutMs: 20_000, headTimeoutMs: 40_000 };
    const answer = expect(client.complete(REQUEST, options)).rejects.toMatchObject({ kind: 'cut' });
    await vi.advanceTimersByTimeAsync(39_999);
    expect(calls).toBe(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls).toBe(2);
    await vi.advanceTimersByTimeAsync(300_000);
    await answer;
    expect(calls).toBe(6);
  });

  it('counts the silence from the head of the response on', async () => {
    answers = [
      (signal) => {
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            signal.addEventListener('abort', () => {
              controller.error(signal.reason);
            });
          },
        });
        return new Response(body, { headers: { 'content-type': 'text/event-stream', 'x-stream-id': 's1' } });
      },
      durable(part(1, 'Hello'), DONE),
    ];
    const answer = ask({ idleTimeoutMs: 20_000, headTimeoutMs: 40_000 });
    await vi.advanceTimersByTimeAsync(19_999);
    expect(types()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(types()).toEqual(['lost']);
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await answer).text).toBe('Hello');
  });
});

const STREAM = [
  ': keep-alive',
  '',
  'data: {"content":"Hä"}',
  '',
  'event: error',
  'data:no space',
  'data:  two: lines',
  'id: 7',
  '',
  'event: nothing',
  '',
  'id: bad\0id',
  'data',
  '',
  'id',
  'retry: 10',
  'data: 🦜',
  '',
  '',
];
const EVENTS = [
  { event: '', data: '{"content":"Hä"}', id: '' },
  { event: 'error', data: 'no space\n two: lines', id: '7' },
  { event: '', data: '', id: '7' },
  { event: '', data: '🦜', id: '' },
];

describe('the parser of events', () => {
  it.each([
    ['LF', '\n'],
    ['CR', '\r'],
    ['CR and LF', '\r\n'],
  ])('finds them whatever the pieces are, with lines that end with %s', (_, lineEnd) => {
    const text = STREAM.join(lineEnd) + 'data: started';
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const places = [0, ...cuts.sort((one, other) => one - other), text.length];
        const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));
        const parse = eventParser();
        expect(pieces.flatMap(parse)).toEqual(EVENTS);
      }),
    );
  });

  it('returns nothing of an incomplete event', () => {
    const parse = eventParser();
    expect(parse('data: {"content":"a"}\n')).toEqual([]);
    expect(parse('\n')).toHaveLength(1);
  });
});
