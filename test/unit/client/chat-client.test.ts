import fc from 'fast-check';
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ChatClient, ChatError, type ConnectionEvent, type StreamOptions } from '../../../src/client.js';
import { eventParser } from '../../../src/client/chat-stream.js';
import { ERRORS } from '../../../src/platform/common/service-error.js';

const REQUEST = { model: 'acme/fast', messages: [{ role: 'user' as const, content: 'Hello!' }] };
const SSE = { 'content-type': 'text/event-stream', 'x-request-id': 'r1' };
const chunk = (content: string, done = false) => `data: ${JSON.stringify({ content, done })}\n\n`;
const DONE = chunk('', true);
const DURABLE = { ...SSE, 'x-stream-id': 's/1' };
const part = (id: number, content: string) => `id: ${id}\n${chunk(content)}`;
const durable = (...blocks: string[]) => new Response(blocks.join(''), { headers: DURABLE });
const streamOf = (...blocks: string[]) => new Response(blocks.join(''), { headers: SSE });

type Call = Parameters<typeof fetch>;
type Answer = Response | Error | ((signal: AbortSignal) => Response | Promise<Response>);
const networkError = () => new TypeError('network error');

/** A client whose requests get these answers, one after the other, and then no response. */
function clientWith(...answers: Answer[]) {
  const calls: Call[] = [];
  const send: typeof fetch = (...call) => {
    calls.push(call);
    const answer = answers.shift() ?? networkError();
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve(typeof answer === 'function' ? answer(call[1]?.signal as AbortSignal) : answer);
  };
  const client = new ChatClient({ baseUrl: 'https://chat.example/api/v1', apiKey: 'csk_1', fetch: send });
  return { client, calls, answers };
}

/** A response that sends nothing after the text, until its request is aborted. */
function silentAfter(text: string, headers: Record<string, string> = SSE): (signal: AbortSignal) => Response {
  return (signal) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        signal.addEventListener('abort', () => {
          controller.error(new Error('aborted'));
        });
        controller.enqueue(new TextEncoder().encode(text));
      },
    });
    return new Response(body, { headers });
  };
}

/** No response, until the request is aborted. */
const silent = (signal: AbortSignal) =>
  new Promise<Response>((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('aborted'));
    });
  });

/** A body that breaks before its first byte. */
const broken = () =>
  new ReadableStream<Uint8Array>({
    pull: (controller) => {
      controller.error(networkError());
    },
  });

function abortable() {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    abort: (reason: string) => {
      controller.abort(reason);
    },
  };
}

async function read(answer: Answer, options?: StreamOptions): Promise<string[]> {
  const texts: string[] = [];
  for await (const text of clientWith(answer).client.stream(REQUEST, options)) texts.push(text);
  return texts;
}

describe('the typed client', () => {
  it('returns the text up to the chunk that is done, and only then reports complete', async () => {
    const { client } = clientWith(streamOf(chunk('He'), ': keep-alive\n\n', chunk('llo'), DONE, chunk('!')));
    const stream = client.stream(REQUEST);
    expect(stream.state).toEqual({ status: 'waiting' });
    const texts: string[] = [];
    for await (const text of stream) {
      texts.push(text);
      expect(stream.state).toEqual({ status: 'streaming' });
    }
    expect(texts).toEqual(['He', 'llo']);
    expect(stream.state).toEqual({ status: 'complete', text: 'Hello' });
    expect(stream.requestId).toBe('r1');
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow('only once');
  });

  it('returns the same text whatever the reads are', async () => {
    const texts = ['Zwölf 🦜', ' Boxkämpfer\r\n', '\u2028', 'data: x'];
    const bytes = new TextEncoder().encode('\ufeff' + texts.map((text) => chunk(text)).join('') + DONE);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
        const places = [0, ...cuts.sort((one, other) => one - other), bytes.length];
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            for (const [index, end] of places.slice(1).entries()) controller.enqueue(bytes.slice(places[index], end));
            controller.close();
          },
        });
        expect(await read(new Response(body, { headers: SSE }))).toEqual(texts);
      }),
      { numRuns: 50 },
    );
  });

  it('sends the very request, with the key and the own headers', async () => {
    const { client, calls } = clientWith(streamOf(DONE));
    expect(await client.complete(REQUEST)).toMatchObject({ complete: true, text: '', requestId: 'r1' });
    const [url, init] = calls[0] ?? [];
    expect(url).toBe('https://chat.example/api/v1/chat/stream');
    expect(init).toMatchObject({
      method: 'POST',
      headers: { authorization: 'Bearer csk_1', 'content-type': 'application/json' },
      body: JSON.stringify(REQUEST),
    });
  });

  it.each([
    ['https://chat.example', 'https://chat.example/api/v1'],
    ['https://chat.example/', 'https://chat.example/api/v1'],
    ['https://chat.example/v/api/v1/', 'https://chat.example/v/api/v1'],
  ])('accepts %s as the address of the service', async (baseUrl, expected) => {
    let asked: unknown;
    const send: typeof fetch = (url) => {
      asked = url;
      return Promise.resolve(Response.json({ models: [] }));
    };
    expect(await new ChatClient({ baseUrl, fetch: send }).models()).toEqual([]);
    expect(asked).toBe(`${expected}/chat/models`);
  });

  it('refuses an address and a key that cannot be sent', () => {
    expect(() => new ChatClient({ baseUrl: 'nonsense' })).toThrow(TypeError);
    expect(() => new ChatClient({ baseUrl: 'https://chat.example', apiKey: 'a\nb' })).toThrow(TypeError);
  });

  it('reads the state of the limits', async () => {
    const limits = (suffix: string) => ({
      [`x-ratelimit-limit${suffix}`]: '20',
      [`x-ratelimit-remaining${suffix}`]: '7',
    });
    const headers = { ...SSE, ...limits(''), 'x-ratelimit-reset': '42' };
    const { rateLimits } = await clientWith(new Response(DONE, { headers })).client.complete(REQUEST);
    expect(rateLimits).toEqual({ requests: { limit: 20, remaining: 7, resetSeconds: 42 }, tokens: undefined });
  });

  it.each([
    ['ends without being done', 'cut', streamOf(chunk('Hel'), 'data: {"content":"","done":true}')],
    ['is empty', 'cut', streamOf()],
    ['says that it failed', 'failed', streamOf(chunk('Hel'), `event: error\n${chunk('').trimEnd()}\n\n`)],
    [
      'says why it failed',
      'failed',
      streamOf(
        chunk('Hel'),
        'event: error\ndata: {"content":"","done":false,"error":{"code":"upstream_error","message":"m"}}\n\n',
      ),
    ],
    ['is nonsense', 'invalid', streamOf(chunk('Hel'), 'data: nonsense\n\n')],
    ['says done by another type', 'invalid', streamOf('data: {"content":"","done":"true"}\n\n')],
    [
      'is a page of something in between',
      'invalid',
      new Response('<html>', { headers: { 'content-type': 'text/html' } }),
    ],
  ])('throws when an answer %s', async (_, kind, answer) => {
    const { client } = clientWith(answer);
    const stream = client.stream(REQUEST);
    const texts: string[] = [];
    const error = await (async () => {
      for await (const text of stream) texts.push(text);
    })().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ChatError);
    expect(error).toMatchObject({ kind, partialText: texts.join('') });
    expect(stream.state).toEqual({ status: 'failed', partialText: texts.join(''), error });
  });

  it('throws when the connection breaks, and when it is silent', async () => {
    await expect(read(new Response(broken(), { headers: SSE }))).rejects.toMatchObject({ kind: 'cut' });
    await expect(read(silent, { idleTimeoutMs: 5 })).rejects.toMatchObject({ kind: 'cut' });
  });

  it('throws what the service says', async () => {
    const error = {
      code: 'rate_limit_exceeded',
      message: 'The tier allows 20 requests per minute.',
      details: [{ field: 'max_tokens', message: 'must be an integer' }],
    };
    const answer = Response.json({ error }, { status: 429, headers: { 'retry-after': '42', 'x-request-id': 'r1' } });
    await expect(read(answer)).rejects.toMatchObject({
      kind: 'refused',
      status: 429,
      requestId: 'r1',
      retryAfterSeconds: 42,
      ...error,
    });
    const page = new Response('Bad Gateway', { status: 502, headers: { 'retry-after': new Date(0).toUTCString() } });
    const fromProxy = { kind: 'refused', status: 502, code: undefined, details: [], retryAfterSeconds: 0 };
    await expect(read(page)).rejects.toMatchObject(fromProxy);
    await expect(read(new TypeError('Failed to fetch'))).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('reads a time to retry that a proxy sends as a date', async () => {
    vi.useFakeTimers({ now: Date.parse('2026-11-24T12:00:00Z'), toFake: ['Date'] });
    try {
      const headers = { 'retry-after': 'Tue, 24 Nov 2026 12:00:42 GMT' };
      const refused = read(new Response('Service Unavailable', { status: 503, headers }));
      await expect(refused).rejects.toMatchObject({ kind: 'refused', retryAfterSeconds: 42 });
    } finally {
      vi.useRealTimers();
    }
  });

  it('ends with the reason of the signal, which is no failure', async () => {
    const signal = AbortSignal.abort('enough');
    await expect(read(new Error('never asked'), { signal })).rejects.toBe('enough');
    const controller = new AbortController();
    const stream = clientWith(streamOf(chunk('a'), chunk('b'), DONE)).client.stream(REQUEST, controller);
    const reading = (async () => {
      for await (const text of stream) controller.abort(`after ${text}`);
    })();
    await expect(reading).rejects.toBe('after a');
    expect(stream.state).toEqual({ status: 'stopped', partialText: 'a' });
  });

  it('ends at once when it is aborted while the service is silent', async () => {
    const { signal, abort } = abortable();
    const stream = clientWith(silentAfter(chunk('a'))).client.stream(REQUEST, { signal });
    const reading = (async () => {
      for await (const text of stream) setTimeout(abort, 5, `after ${text}`);
    })();
    await expect(reading).rejects.toBe('after a');
    expect(stream.state).toEqual({ status: 'stopped', partialText: 'a' });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('calls an answer cut that is silent after its first text', async () => {
    const { client } = clientWith(silentAfter(chunk('a')));
    await expect(client.complete(REQUEST, { idleTimeoutMs: 20 })).rejects.toMatchObject({
      kind: 'cut',
      partialText: 'a',
    });
  });

  it('knows the request and the limits of a refusal, too, also when its body does not arrive', async () => {
    const headers = {
      'x-request-id': 'r2',
      'x-ratelimit-limit': '20',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '7',
    };
    const stream = clientWith(new Response(broken(), { status: 429, headers })).client.stream(REQUEST);
    const facts = { requestId: 'r2', rateLimits: { requests: { limit: 20, remaining: 0, resetSeconds: 7 } } };
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      kind: 'refused',
      status: 429,
      ...facts,
    });
    expect(stream).toMatchObject(facts);
  });

  it('does not count a slow reader as silence', async () => {
    const { client } = clientWith(streamOf(chunk('a'), chunk('b'), DONE));
    const texts: string[] = [];
    for await (const text of client.stream(REQUEST, { idleTimeoutMs: 10 })) {
      texts.push(text);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    expect(texts).toEqual(['a', 'b']);
  });

  it('ends the request when the loop is left', async () => {
    const { client, calls } = clientWith(silentAfter(chunk('a') + chunk('b')));
    const stream = client.stream(REQUEST);
    for await (const text of stream) if (text === 'a') break;
    expect(calls[0]?.[1]?.signal?.aborted).toBe(true);
    expect(stream.state).toEqual({ status: 'stopped', partialText: 'a' });
  });

  it('knows each error code of the service', async () => {
    const { readFile } = await import('node:fs/promises');
    const source = await readFile(new URL('../../../src/client/chat-error.ts', import.meta.url), 'utf8');
    expect(Object.keys(ERRORS).filter((code) => !source.includes(`'${code}'`))).toEqual([]);
  });
});

describe('the receipt of a stream', () => {
  const missing = () => Response.json({ error: { code: 'not_found', message: 'No such stream.' } }, { status: 404 });

  it('is requested again while it is missing, for three seconds', async () => {
    vi.useFakeTimers();
    const { client, calls } = clientWith(...Array.from({ length: 10 }, missing), Response.json({ request_id: 'r/1' }));
    const receipt = client.receipt('r/1');
    await vi.advanceTimersByTimeAsync(2_999);
    expect(calls).toHaveLength(10);
    await vi.advanceTimersByTimeAsync(1);
    expect(await receipt).toEqual({ request_id: 'r/1' });
    expect(new Set(calls.map(([url]) => url))).toEqual(new Set(['https://chat.example/api/v1/usage/streams/r%2F1']));
    const never = clientWith(...Array.from({ length: 12 }, missing));
    const refused = expect(never.client.receipt('r1')).rejects.toMatchObject({ kind: 'refused', code: 'not_found' });
    await vi.advanceTimersByTimeAsync(3_000);
    await refused;
    expect(never.calls).toHaveLength(11);
  });

  it('is not waited for after another failure, nor after an abort', async () => {
    vi.useFakeTimers();
    const failing = clientWith(new Response('', { status: 500 }));
    await expect(failing.client.receipt('r1')).rejects.toMatchObject({ status: 500 });
    const controller = new AbortController();
    const { client, calls } = clientWith(missing(), new Error('aborted'));
    const receipt = client.receipt('r1', { signal: controller.signal });
    const aborted = expect(receipt).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(100);
    controller.abort('enough');
    await aborted;
    expect([calls.length, vi.getTimerCount()]).toEqual([2, 0]);
  });
});

describe('a durable stream of the typed client', () => {
  const OPTIONS = { idempotencyKey: 'key-1' };

  it('continues after the last event when the connection ends', async () => {
    const { client, calls } = clientWith(
      durable(part(1, 'He'), part(2, 'l')),
      networkError(),
      new Response('', { status: 503, headers: { 'retry-after': '0' } }),
      durable(part(3, 'lo'), DONE),
    );
    const stream = client.stream(REQUEST, OPTIONS);
    let text = '';
    for await (const piece of stream) text += piece;
    expect(text).toBe('Hello');
    expect(stream).toMatchObject({ state: { status: 'complete', text }, streamId: 's/1', lastEventId: '3' });
    expect(calls).toHaveLength(4);
    expect(calls[0]?.[1]).toMatchObject({ method: 'POST', headers: { 'idempotency-key': 'key-1' } });
    expect(calls[3]?.[0]).toBe('https://chat.example/api/v1/chat/streams/s%2F1');
    expect(calls[3]?.[1]).toMatchObject({ headers: { 'last-event-id': '2', authorization: 'Bearer csk_1' } });
  });

  it('a header that the call sets takes precedence over one for each request, so that nothing is repeated', async () => {
    const answers = [durable(part(1, 'He'), part(2, 'l')), durable(part(3, 'lo'), DONE)];
    const sent: unknown[] = [];
    const client = new ChatClient({
      baseUrl: 'https://chat.example',
      headers: { 'Last-Event-ID': '1', 'Content-Type': 'text/plain', 'Idempotency-Key': 'of-all', 'X-Team': 'a' },
      fetch: (_, init) => {
        sent.push(init?.headers);
        return Promise.resolve(answers.shift() ?? Response.error());
      },
    });
    expect(await client.complete(REQUEST, OPTIONS)).toMatchObject({ text: 'Hello' });
    expect(sent).toMatchObject([
      { 'content-type': 'application/json', 'idempotency-key': 'key-1', 'x-team': 'a' },
      { 'last-event-id': '2', 'x-team': 'a' },
    ]);
  });

  it.each([429, 502, 503, 504])('continues after a response with the status %i', async (status) => {
    const busy = new Response('', { status, headers: { 'retry-after': '0' } });
    const { client } = clientWith(durable(part(1, 'Hel')), busy, durable(part(2, 'lo'), DONE));
    expect(await client.complete(REQUEST, OPTIONS)).toMatchObject({ text: 'Hello' });
  });

  it('keeps the id of the request that has begun the stream, for its receipt, and reports the newest limits', async () => {
    vi.useFakeTimers();
    const answer = (id: string, remaining: string, ...blocks: string[]) => {
      const limits = { 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': '7' };
      return new Response(blocks.join(''), {
        headers: { ...SSE, ...limits, 'x-request-id': id, 'x-stream-id': 's/1' },
      });
    };
    const { client } = clientWith(answer('r1', '9', part(1, 'Hel')), answer('r2', '8', part(2, 'lo'), DONE));
    const complete = client.complete(REQUEST, OPTIONS);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await complete).toMatchObject({ requestId: 'r1', rateLimits: { requests: { remaining: 8 } } });
  });

  it('requests again with the same key when no response arrived', async () => {
    const { client, calls } = clientWith(networkError(), durable(part(1, 'Hello'), DONE));
    expect(await client.complete(REQUEST, OPTIONS)).toMatchObject({ text: 'Hello' });
    expect(calls.map(([, init]) => [init?.method, init?.body])).toEqual([
      ['POST', JSON.stringify(REQUEST)],
      ['POST', JSON.stringify(REQUEST)],
    ]);
  });

  it.each([
    ['the service keeps no streams', [streamOf(chunk('Hel'))], OPTIONS, 'cut'],
    ['it failed', [durable(part(1, 'Hel'), 'event: error\ndata: {"content":"","done":false}\n\n')], OPTIONS, 'failed'],
    ['it is no longer stored', [durable(part(1, 'Hel')), new Response('', { status: 404 })], OPTIONS, 'refused'],
    ['it broke too often', [durable(part(1, 'Hel')), durable()], { ...OPTIONS, maxReconnects: 1 }, 'cut'],
    ['the caller asked for no durable stream', [networkError()], {}, 'unreachable'],
  ])('does not continue when %s', async (_, answers, options, kind) => {
    const { client, calls } = clientWith(...answers);
    const partialText = kind === 'unreachable' ? '' : 'Hel';
    await expect(client.complete(REQUEST, options)).rejects.toMatchObject({ kind, partialText });
    expect(calls).toHaveLength(answers.length);
  });

  it('waits longer after each failure without new text, or as long as Retry-After says, but ten seconds at most', async () => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const busy = (seconds: string) => new Response('', { status: 503, headers: { 'retry-after': seconds } });
    const { client, calls } = clientWith(
      durable(part(1, 'He')),
      networkError(),
      networkError(),
      busy('3'),
      busy('3600'),
      durable(part(2, 'l')),
      durable(part(3, 'lo'), DONE),
    );
    const answer = client.complete(REQUEST, OPTIONS);
    for (const [index, pauseMs] of [250, 500, 1_000, 3_000, 10_000, 250].entries()) {
      await vi.advanceTimersByTimeAsync(pauseMs - 1);
      expect([index, calls.length]).toEqual([index, index + 1]);
      await vi.advanceTimersByTimeAsync(1);
    }
    expect((await answer).text).toBe('Hello');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends at once when it is aborted between two connections, and leaves no timer and no listener behind', async () => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const { signal, abort } = abortable();
    const { client, calls } = clientWith(durable(part(1, 'Hel')), durable(part(2, 'l')), networkError());
    const stream = client.stream(REQUEST, { ...OPTIONS, signal });
    const reading = (async () => {
      for await (const text of stream) expect(text).not.toBe('');
    })();
    const ended = expect(reading).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(300);
    expect([calls.length, vi.getTimerCount()]).toEqual([2, 1]);
    abort('enough');
    await ended;
    expect(stream.state).toEqual({ status: 'stopped', partialText: 'Hell' });
    expect([calls.length, vi.getTimerCount(), getEventListeners(signal, 'abort')]).toEqual([2, 0, []]);
  });

  it('leaves nothing on a signal that many streams share', async () => {
    vi.useFakeTimers();
    const { signal } = abortable();
    const { client } = clientWith(durable(part(1, 'Hel')), networkError(), durable(part(2, 'lo'), DONE));
    const answer = client.complete(REQUEST, { ...OPTIONS, signal });
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await answer).text).toBe('Hello');
    expect([vi.getTimerCount(), getEventListeners(signal, 'abort')]).toEqual([0, []]);
  });

  it('continues after the last text that its reader took, when the loop over it is left', async () => {
    const { client } = clientWith(durable(part(1, 'He'), part(2, 'l'), part(3, 'lo'), DONE));
    const stream = client.stream(REQUEST, OPTIONS);
    let text = '';
    for await (const piece of stream) {
      text += piece;
      if (text === 'Hel') break;
    }
    expect(stream).toMatchObject({ state: { status: 'stopped', partialText: 'Hel' }, lastEventId: '2' });
  });

  it('is continued by its id, and ended', async () => {
    const { client, calls } = clientWith(durable(part(3, 'lo'), DONE), new Response(null, { status: 204 }));
    let text = '';
    for await (const piece of client.resume({ streamId: 's/1', lastEventId: '2' })) text += piece;
    expect(text).toBe('lo');
    await client.cancel('s/1');
    expect(calls.map(([url, init]) => [url, init?.method])).toEqual([
      ['https://chat.example/api/v1/chat/streams/s%2F1', undefined],
      ['https://chat.example/api/v1/chat/streams/s%2F1', 'DELETE'],
    ]);
    expect(calls.at(-1)?.[1]?.keepalive).toBe(true);
  });
});

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
  let made: ReturnType<typeof clientWith>;
  let events: ConnectionEvent[];
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(1);
    events = [];
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  function ask(answers: Answer[], options: StreamOptions = {}): Promise<{ readonly text: string }> {
    made = clientWith(...answers);
    const onConnection = (event: ConnectionEvent) => void events.push(event);
    return made.client.complete(REQUEST, { idempotencyKey: 'key', onConnection, ...options });
  }
  const types = () => events.map(({ type }) => type);

  it('reports when the connection is lost, when it connects again, and when it continues', async () => {
    vi.setSystemTime(1_000);
    const answer = ask([durable(part(1, 'Hel')), networkError(), durable(part(2, 'lo'), DONE)]);
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
    const answer = ask([networkError(), durable(part(1, 'Hello'), DONE)]);
    await vi.advanceTimersByTimeAsync(1_000);
    await answer;
    expect(events[0]).toMatchObject({ type: 'lost', lastTextAt: undefined, error: { kind: 'unreachable' } });
  });

  it('reconnects for as long as the service keeps the stream, if there is no limit', async () => {
    const answer = ask([durable(part(1, 'Hel'))], { maxReconnects: Infinity });
    const gone = expect(answer).rejects.toMatchObject({ kind: 'refused', status: 404, partialText: 'Hel' });
    await vi.advanceTimersByTimeAsync(3_600_000);
    // The pauses are 0.25 + 0.5 + 1 + 2 + 4 + 8 s, and then 10 s each.
    expect(made.calls.length).toBe(1 + 6 + Math.floor((3_600 - 15.75) / 10));
    made.answers.splice(0, Infinity, new Response('', { status: 404 }));
    await vi.advanceTimersByTimeAsync(10_000);
    await gone;
    expect(vi.getTimerCount()).toBe(0);
  });

  it('spreads the attempts of many clients', async () => {
    vi.mocked(Math.random).mockReturnValue(0);
    const answer = ask([durable(part(1, 'Hel')), durable(part(2, 'lo'), DONE)]);
    await vi.advanceTimersByTimeAsync(124);
    expect(made.calls.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect((await answer).text).toBe('Hello');
  });

  it('waits before each request to a service that sends Retry-After: 0', async () => {
    const busy = () => new Response('', { status: 503, headers: { 'retry-after': '0' } });
    const answer = ask([durable(part(1, 'Hel')), busy(), busy(), durable(part(2, 'lo'), DONE)]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(made.calls.length).toBe(3);
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await answer).text).toBe('Hello');
  });

  it('connects at once when the browser is online again, and leaves no listener behind', async () => {
    const network = browserNetwork();
    const removed = vi.spyOn(globalThis, 'removeEventListener');
    const added = vi.spyOn(globalThis, 'addEventListener');
    const answer = ask(
      [durable(part(1, 'Hel')), networkError(), networkError(), networkError(), networkError(), networkError()],
      { maxReconnects: Infinity },
    );
    await vi.advanceTimersByTimeAsync(8_000);
    expect(made.calls.length).toBe(6);
    made.answers.splice(0, Infinity, durable(part(2, 'lo'), DONE));
    network.report('online');
    await vi.advanceTimersByTimeAsync(0);
    expect((await answer).text).toBe('Hello');
    expect(removed.mock.calls).toHaveLength(added.mock.calls.length);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not wait for the connection to break when the browser is offline', async () => {
    const network = browserNetwork();
    const answer = ask([silentAfter(part(1, 'Hel'), DURABLE), durable(part(2, 'lo'), DONE)]);
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
    const options = { maxReconnects: Infinity, idleTimeoutMs: 20_000, headTimeoutMs: 40_000 };
    const answer = expect(ask(Array<Answer>(9).fill(silent), options)).rejects.toMatchObject({ kind: 'cut' });
    await vi.advanceTimersByTimeAsync(39_999);
    expect(made.calls.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(made.calls.length).toBe(2);
    await vi.advanceTimersByTimeAsync(300_000);
    await answer;
    expect(made.calls.length).toBe(6);
  });

  it('counts the silence from the head of the response on', async () => {
    const answer = ask([silentAfter('', DURABLE), durable(part(1, 'Hello'), DONE)], {
      idleTimeoutMs: 20_000,
      headTimeoutMs: 40_000,
    });
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
