import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { afterEach, beforeEach, describe, expect, it, vi, type Mock } from 'vitest';
import { SseSink } from '../../../../src/chat/stream/sse-sink.js';
import { isReaderLimited } from '../../../../src/platform/http/connections/reader-limit.js';

const STALL_MS = 30_000;
const EVENT = 'data: {"content":"Hi","done":false}\n\n';

class FakeSocket extends EventEmitter {
  readonly calls: string[] = [];
  writableNeedDrain = false;
  timeoutMs: number | undefined;

  write(bytes: string): boolean {
    this.calls.push(bytes);
    return true;
  }

  cork(): void {
    this.calls.push('cork');
  }

  uncork(): void {
    this.calls.push('uncork');
  }

  setTimeout(ms: number): void {
    this.timeoutMs = ms;
  }
}

/** What the sink uses of a response. Keeps what Node would get. */
class FakeResponse extends EventEmitter {
  readonly req = {};
  socket: FakeSocket | null = new FakeSocket();
  readonly written: string[] = [];
  readonly heads: [number, Record<string, unknown>][] = [];
  chunkedEncoding = true;
  shouldKeepAlive = true;
  writableNeedDrain = false;
  destroyed = false;

  write(bytes: string): boolean {
    this.written.push(bytes);
    return false;
  }

  writeHead(status: number, headers: Record<string, unknown>): this {
    this.heads.push([status, headers]);
    return this;
  }

  flushHeaders(): void {
    this.socket?.calls.push('headers');
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }

  get waitingListeners(): number {
    return this.listenerCount('drain') + this.listenerCount('close') + (this.socket?.listenerCount('drain') ?? 0);
  }
}

let response: FakeResponse;
let sink: SseSink;
let subscriber: { next: Mock; complete: Mock };
const socket = () => response.socket as FakeSocket;

function open(keepsIds?: boolean): void {
  response = new FakeResponse();
  subscriber = { next: vi.fn(), complete: vi.fn() };
  sink = new SseSink(response as unknown as Response, STALL_MS, subscriber, keepsIds);
}
/** Sends one event. Nest writes it at once. */
function send(event = EVENT): void {
  sink.send({ data: event });
  response.write(event);
}

beforeEach(() => {
  vi.useFakeTimers();
  open();
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe('the head of a stream', () => {
  it('names the encoding, and leaves the other headers of Nest', () => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', Connection: 'keep-alive', 'X-Other': 'x' });
    expect(response.heads).toEqual([
      [200, { 'Content-Type': 'text/event-stream; charset=utf-8', Connection: 'keep-alive', 'X-Other': 'x' }],
    ]);
  });

  it('announces the end of the connection to a client that requests it', () => {
    response.shouldKeepAlive = false;
    response.writeHead(200, { Connection: 'keep-alive' });
    expect(response.heads[0]?.[1]['Connection']).toBe('close');
  });

  it('leaves with the first text, in the same turn', () => {
    response.flushHeaders();
    send('data: 1\n\n');
    expect(socket().calls).toEqual(['cork', 'headers', '9\r\ndata: 1\n\n\r\n']);
    vi.advanceTimersToNextTimer();
    expect(socket().calls.at(-1)).toBe('uncork');
  });

  it('says that the stream limits its reader itself', () => {
    expect(isReaderLimited(response as unknown as ServerResponse)).toBe(true);
    expect(isReaderLimited(new FakeResponse() as unknown as ServerResponse)).toBe(false);
  });
});

describe('what Nest writes', () => {
  it.each([
    ['an event', `id: 12\n${EVENT}`, EVENT],
    ['an event with a name', 'event: error\nid: 13\ndata: id: 4\n\n', 'event: error\ndata: id: 4\n\n'],
    ['an event with a name and no id', 'event: error\ndata: x\n\n', 'event: error\ndata: x\n\n'],
    ['a comment', ': keep-alive\n\n', ': keep-alive\n\n'],
    ['a text beyond ASCII', 'data: \u{1f600}\n\n', 'data: \u{1f600}\n\n'],
  ])('as %s is sent without its id, as one chunk of the body', (_, written, sent) => {
    send(written);
    expect(socket().calls).toEqual([`${Buffer.byteLength(sent).toString(16)}\r\n${sent}\r\n`]);
    expect(response.written).toEqual([]);
  });

  it.each(['\n', ': \n\n'])('besides events is not sent, and is no event: %j', (framing) => {
    sink.send({ data: 'x' });
    response.write(framing);
    expect(socket().calls).toEqual([]);
    expect(sink.isReady).toBe(false);
    response.write(EVENT);
    expect(sink.isReady).toBe(true);
  });

  it('never makes Nest wait', () => {
    expect([response.write('\n'), response.write(EVENT)]).toEqual([true, true]);
  });

  it.each([
    ['of HTTP/1.0', () => (response.chunkedEncoding = false)],
    ['of a closed connection', () => (response.socket = null)],
  ])('is left to Node in the body %s', (_, change) => {
    change();
    send(`id: 1\n${EVENT}`);
    expect(response.written).toEqual([EVENT]);
  });

  it('keeps the positions of a durable stream, and no numbers of Nest', () => {
    open(true);
    send(`id: abcdefgh-1\n${EVENT}`);
    send(`id: 12345678\n${EVENT}`);
    send(`id: short-1\n${EVENT}`);
    const sent = socket().calls.map((bytes) => bytes.split('\r\n')[1]);
    expect(sent).toEqual([`id: abcdefgh-1\n${EVENT}`, EVENT, EVENT]);
  });

  it('has no position in a plain stream', () => {
    send(`id: abcdefgh-1\n${EVENT}`);
    expect(socket().calls[0]).toContain(`\r\n${EVENT}`);
  });
});

describe('data that is held back to the end of the turn', () => {
  it('is held back once a turn, and again in the next one', () => {
    sink.cork();
    sink.cork();
    expect(socket().calls).toEqual(['cork']);
    vi.advanceTimersToNextTimer();
    sink.cork();
    expect(socket().calls).toEqual(['cork', 'uncork', 'cork']);
    vi.advanceTimersToNextTimer();
  });

  it('is not there without a connection', () => {
    response.socket = null;
    expect(() => {
      sink.cork();
    }).not.toThrow();
  });
});

describe('the next event', () => {
  const full = {
    response: () => (response.writableNeedDrain = true),
    socket: () => (socket().writableNeedDrain = true),
  };
  const heard = () => {
    const listener = vi.fn<(wasSlow: boolean) => void>();
    sink.whenReady(listener);
    return listener;
  };
  const drain = () => {
    response.writableNeedDrain = false;
    socket().writableNeedDrain = false;
    socket().emit('drain');
  };

  it('may be sent at once where nothing waits', () => {
    expect(sink.isReady).toBe(true);
    const listener = heard();
    expect(listener.mock.calls).toEqual([[false]]);
    send();
    expect(listener).toHaveBeenCalledOnce();
  });

  it('waits until Nest has written the ones before, which is not slow', () => {
    sink.send({ data: 'x' });
    sink.send({ data: 'x' });
    const listener = heard();
    response.write(EVENT);
    expect([sink.isReady, listener.mock.calls.length]).toEqual([false, 0]);
    response.write(EVENT);
    expect([sink.isReady, listener.mock.calls]).toEqual([true, [[false]]]);
    expect(response.waitingListeners).toBe(0);
  });

  it.each(['response', 'socket'] as const)('waits for the client when its %s is full', (what) => {
    full[what]();
    expect(sink.isReady).toBe(false);
    const listener = heard();
    expect(listener).not.toHaveBeenCalled();
    expect(response.waitingListeners).toBe(3);

    drain();

    expect(listener.mock.calls).toEqual([[true]]);
    expect(response.waitingListeners).toBe(0);
  });

  it('waits for the response and for the socket', () => {
    full.response();
    full.socket();
    const listener = heard();
    response.writableNeedDrain = false;
    response.emit('drain');
    expect(listener).not.toHaveBeenCalled();
    drain();
    expect(listener.mock.calls).toEqual([[true]]);
  });

  it('is reported again after each wait', () => {
    for (let round = 0; round < 2; round++) {
      full.socket();
      const listener = heard();
      drain();
      expect(listener.mock.calls).toEqual([[true]]);
    }
  });

  it('never comes for a client that reads nothing: its connection is closed when its time is over', () => {
    full.socket();
    const listener = heard();
    vi.advanceTimersByTime(STALL_MS - 1);
    expect(response.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect([response.destroyed, listener.mock.calls.length, response.waitingListeners]).toEqual([true, 0, 0]);
  });

  it('is not limited in time by a wait that is over', () => {
    full.socket();
    heard();
    drain();
    vi.advanceTimersByTime(10 * STALL_MS);
    expect(response.destroyed).toBe(false);
  });

  it('never comes after the connection is closed', () => {
    full.socket();
    const listener = heard();
    response.destroy();
    expect([listener.mock.calls.length, response.waitingListeners]).toEqual([0, 0]);
  });

  it('never comes for a response whose socket is gone and that is full', () => {
    response.socket = null;
    response.writableNeedDrain = true;
    const listener = heard();
    response.destroy();
    expect([listener.mock.calls.length, response.waitingListeners]).toEqual([0, 0]);
  });
});

describe('the end of a stream', () => {
  it('comes after its events, and limits how long the client may leave them unread', () => {
    sink.send({ data: 'x' });
    sink.end();
    expect([subscriber.next.mock.calls, subscriber.complete.mock.calls]).toEqual([[[{ data: 'x' }]], [[]]]);
    expect(socket().timeoutMs).toBe(STALL_MS);
    response.socket = null;
    expect(() => {
      sink.end();
    }).not.toThrow();
  });
});
