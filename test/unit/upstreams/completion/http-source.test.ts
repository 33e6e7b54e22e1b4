import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../../src/platform/common/service-error.js';
import { Latch } from '../../../support/latch.js';
import { PlayedConnection } from '../played-connection.js';
import { event, PlayedSource, REQUEST, turn, upstream, FAILED, MAX_EVENT_BYTES } from '../played-source.js';
import type { HttpProtocol } from '../../../../src/upstreams/contract/protocol.js';

const AFTER_COMPLETE_MS = 2_000;
const HIGH_WATER_BYTES = 64 * 1024;
const GONE = new Error('The client has left.');
const TOO_LATE = new Error('too late');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe('a source over HTTP', () => {
  it('sends its request at once, as the protocol made it', () => {
    const { send, line, onChange } = new PlayedSource();
    expect(send.mock.calls).toEqual([[upstream, REQUEST, onChange]]);
    expect(line.sent).toMatchObject([{ path: '/v1/chat?beta=true', method: 'POST', body: '{}' }]);
  });

  it.each([
    ['request', () => REQUEST],
    ['late request', () => Promise.resolve(REQUEST)],
  ])('adds the headers of the attempt to those of the protocol, for a %s', async (_, request) => {
    const { send } = new PlayedSource({ headers: { traceparent: 'of the attempt' }, request });
    await turn();
    expect(send.mock.calls[0]?.[1]).toEqual({
      ...REQUEST,
      headers: { authorization: 'Bearer key', traceparent: 'of the attempt' },
    });
  });

  it('sends nothing before a late request is ready', async () => {
    const ready = new Latch();
    const { source, send, line, onChange } = new PlayedSource({ request: () => ready.opened.then(() => REQUEST) });
    expect([source.read(), send.mock.calls]).toEqual([false, []]);
    ready.open();
    await turn();
    expect(send.mock.calls).toEqual([[upstream, REQUEST, onChange]]);
    line.head();
    expect([source.read(), source.isAccepted]).toEqual([true, true]);
  });

  it.each([
    ['made', () => Promise.reject(new TypeError('a bug')), 'internal_error'],
    ['sent', () => Promise.resolve(REQUEST), 'unavailable'],
  ])('whose late request cannot be %s reports the failure once', async (_, request, code) => {
    const send = () => {
      throw new ServiceError('unavailable', 'All connections are in use.');
    };
    const { source, onChange } = new PlayedSource({ request, send });
    await turn();
    expect(onChange).toHaveBeenCalledTimes(1);
    expect(() => source.read()).toThrow(expect.objectContaining({ code }));
  });
});

describe('a source over HTTP that is closed', () => {
  it('closes its connection, and fails with the first reason', () => {
    const { source, line, collector } = new PlayedSource();
    line.head().data(event('Hi'));
    source.read();
    source.close(GONE);
    source.close(TOO_LATE);
    expect(line.events).toEqual(['spare', `abort: ${GONE.message}`]);
    expect(() => source.read()).toThrow(GONE);
    line.breaks();
    expect(() => source.read()).toThrow(GONE);
    expect(collector.take()).toBeUndefined();
  });

  it('before the answer fails with the reason, and is not sent again', () => {
    const { source, line, send } = new PlayedSource({ lines: [new PlayedConnection({ reused: true })] });
    source.close(GONE);
    line.breaks();
    expect(() => source.read()).toThrow(GONE);
    expect(send).toHaveBeenCalledTimes(1);
  });

  it('before its connection is open sends nothing over it', () => {
    const { source, line } = new PlayedSource({ lines: [new PlayedConnection({ isOpen: false })] });
    source.close(GONE);
    expect(line.events).toEqual(['spare']);
    line.open();
    expect(line.events).toEqual(['spare', `abort: ${GONE.message}`]);
  });

  it('before its late request is ready never sends it', async () => {
    const ready = new Latch();
    const { source, send } = new PlayedSource({ request: () => ready.opened.then(() => REQUEST) });
    source.close(GONE);
    source.close(TOO_LATE);
    ready.open();
    await turn();
    expect(send).not.toHaveBeenCalled();
    expect(() => source.read()).toThrow(GONE);
  });

  it('before its late request fails keeps the reason', async () => {
    const { source } = new PlayedSource({ request: () => Promise.reject(TOO_LATE) });
    source.close(GONE);
    await turn();
    expect(() => source.read()).toThrow(GONE);
  });

  it('after the body leaves the connection to the next request', () => {
    const one = new PlayedSource();
    one.line.head().data(event('last')).end();
    one.readAll();
    one.source.close(GONE);
    one.source.finish();
    expect(one.line.events).toEqual(['release']);
  });
});

describe('a source over HTTP that is finished', () => {
  function finished(): PlayedSource {
    const one = new PlayedSource();
    one.line.head().data(event('last'));
    one.readAll();
    one.source.finish();
    return one;
  }

  it('waits two seconds for the end of the body, and then closes the connection', async () => {
    const { line } = finished();
    await vi.advanceTimersByTimeAsync(AFTER_COMPLETE_MS - 1);
    expect(line.events).toEqual(['spare']);
    await vi.advanceTimersByTimeAsync(1);
    expect(line.events).toEqual(['spare', 'spare', 'abort: The provider did not end the body.']);
  });

  it.each(['end', 'breaks'] as const)('waits no longer when the body %s', async (how) => {
    const { line } = finished();
    line[how]();
    await turn();
    expect(vi.getTimerCount()).toBe(0);
    expect(line.events).not.toContainEqual(expect.stringContaining('abort'));
  });

  it('reads on where the reader was slow, up to a limit', async () => {
    const one = new PlayedSource();
    one.line.head().data(event('last'));
    one.readAll();
    one.line.data(' '.repeat(HIGH_WATER_BYTES + 1));
    one.source.finish();
    expect(one.line.events).toEqual(['pause', 'spare', 'resume']);
    one.line.data(' '.repeat(HIGH_WATER_BYTES));
    expect(one.line.events).toHaveLength(3);
    one.line.data(' ');
    await turn();
    expect(one.line.events.slice(3)).toEqual(['spare', 'abort: The provider sent too many bytes after the answer.']);
  });

  it('reads no more', async () => {
    const { line, source, onChange, collector } = finished();
    await turn();
    onChange.mockClear();
    line.data(event('more'));
    expect(source.read()).toBe(false);
    line.end();
    await turn();
    expect([onChange.mock.calls, collector.take()]).toEqual([[], undefined]);
  });
});

describe('a request over a kept connection that the provider has closed', () => {
  it('is sent once more, as it was, over a new connection', async () => {
    const fresh = new PlayedConnection();
    const { line, source, send, onChange, onSentAgain } = new PlayedSource({
      lines: [new PlayedConnection({ reused: true }), fresh],
      headers: { traceparent: 'of the attempt' },
    });
    line.breaks();
    expect(source.read()).toBe(false);
    expect(onSentAgain).toHaveBeenCalledTimes(1);
    expect(send.mock.calls[1]).toEqual([upstream, send.mock.calls[0]?.[1], onChange, true]);
    await turn();
    onChange.mockClear();
    fresh.head();
    await turn();
    expect([onChange.mock.calls.length, source.read(), source.isAccepted]).toEqual([1, true, true]);
  });

  it('fails when the new connection breaks, too', () => {
    const fresh = new PlayedConnection();
    const { line, source, send } = new PlayedSource({ lines: [new PlayedConnection({ reused: true }), fresh] });
    line.breaks();
    source.read();
    fresh.breaks();
    expect(() => source.read()).toThrow(expect.objectContaining({ code: 'upstream_error' }));
    expect(send).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['a new connection breaks', false, 'ECONNRESET'],
    ['a kept connection fails for another reason', true, 'ETIMEDOUT'],
  ])('is not what fails when %s', (_, reused, code) => {
    const { line, source, send } = new PlayedSource({ lines: [new PlayedConnection({ reused })] });
    line.breaks(code);
    expect(() => source.read()).toThrow(expect.objectContaining({ name: 'ServiceError' }));
    expect(send).toHaveBeenCalledTimes(1);
  });
});

const MAX_IDLE_EVENTS = 8;

const MAX_ERROR_BYTES = 256 * 1024;

const JSON_TYPE = { 'content-type': 'application/json' };

const LATE = new ServiceError('upstream_timeout', 'The provider did not answer in time.');

const COMMENT = `:${'x'.repeat(MAX_EVENT_BYTES - 2)}\n`;

const INCOMPLETE = {
  code: 'upstream_error',
  cause: expect.objectContaining({ message: 'The answer ended before it was complete.' }) as Error,
};

/** A source whose provider has accepted the request. */
function accepted(): PlayedSource {
  const one = new PlayedSource();
  one.line.head();
  one.source.read();
  return one;
}

describe('the answer over HTTP', () => {
  it('is accepted with the head, arrives in pieces, and is over with the body', async () => {
    const { source, line, collector, onChange, readAll } = new PlayedSource();
    expect([source.read(), source.isAccepted]).toEqual([false, false]);
    line.head();
    await turn();
    expect(onChange).toHaveBeenCalledTimes(1);
    expect([source.read(), source.isAccepted, source.read()]).toEqual([true, true, false]);
    line.data(event('Hel')).data(event('lo'));
    expect([source.read(), source.read(), collector.take()]).toEqual([true, false, { type: 'text', text: 'Hello' }]);
    line.data(event('complete')).end();
    readAll();
    expect(collector).toMatchObject({ complete: true, over: true, error: undefined });
    expect([source.isRefused, line.events]).toEqual([false, ['release']]);
  });

  it.each([{}, { 'content-encoding': ' Identity ' }, { 'content-type': 'text/plain' }])(
    'is a stream with the headers %o',
    (headers) => {
      const { source, line } = new PlayedSource();
      line.head(200, headers);
      expect([source.read(), source.isAccepted]).toEqual([true, true]);
    },
  );

  it('that breaks returns what arrived, and then fails', () => {
    const { source, line, collector } = accepted();
    line.data(event('Hi')).breaks();
    expect([source.read(), collector.take()]).toEqual([true, { type: 'text', text: 'Hi' }]);
    expect(() => source.read()).toThrow(expect.objectContaining({ code: 'upstream_error' }));
  });

  it.each([
    ['the protocol has a bug', 'bug', 'internal_error'],
    ['an event is too large', 'x'.repeat(MAX_EVENT_BYTES), 'upstream_error'],
  ])('fails when %s, after the text before it', (_, data, code) => {
    const { source, line, collector } = accepted();
    line.data(event('Hi') + event(data) + event('more'));
    expect([source.read(), collector.take(), collector.take()]).toEqual([
      true,
      { type: 'text', text: 'Hi' },
      undefined,
    ]);
    expect(collector).toMatchObject({ over: true, error: { code } });
  });

  it.each([
    ['bytes', 1, event('x'.repeat(80)).repeat(1_000)],
    ['pieces', 1_024, event('Hi')],
  ])('stops to arrive when too many %s wait for the reader, until they are read', (_, count, bytes) => {
    const { source, line } = accepted();
    for (let number = 1; number < count; number++) line.data(bytes);
    expect(line.events).toEqual([]);
    line.data(bytes);
    expect(line.events).toEqual(['pause']);
    source.read();
    expect(line.events).toEqual(['pause', 'resume']);
    line.data(event('Hi'));
    source.read();
    expect(line.events).toEqual(['pause', 'resume']);
  });

  it('may bring a limited number of bytes without a sign of life', () => {
    const { source, line, collector } = accepted();
    const idle = () => {
      for (let count = 1; count <= MAX_IDLE_EVENTS; count++) {
        line.data(COMMENT);
        expect(source.read()).toBe(true);
      }
    };
    idle();
    line.data(event('Hi'));
    source.read();
    collector.signOfLife = false;
    idle();
    line.data('\n');
    expect(() => source.read()).toThrow(expect.objectContaining({ code: 'upstream_error' }));
  });
});

describe('the end of an answer over HTTP', () => {
  it('is a failure before the end marker', () => {
    const { line, collector, readAll } = accepted();
    line.data(event('Hi')).end();
    readAll();
    expect(collector).toMatchObject({ over: true, error: INCOMPLETE });
  });

  it('brings what the protocol kept', () => {
    const { line, collector, readAll, end } = accepted();
    end.mockReturnValue([
      { type: 'text', text: 'Hi' },
      { type: 'complete', last: false },
    ]);
    line.end();
    readAll();
    expect([collector.take(), collector.over, collector.error]).toEqual([
      { type: 'text', text: 'Hi' },
      true,
      undefined,
    ]);
  });

  it('is one for a protocol that keeps nothing', () => {
    const { line, collector, readAll } = new PlayedSource({ open: () => ({ parts: () => [] }) });
    line.head().end();
    readAll();
    expect(collector.error).toMatchObject(INCOMPLETE);
  });

  it('brings an unfinished event, and reads nothing from the protocol after the last part', () => {
    const { line, collector, readAll, end } = accepted();
    line.data('data: last').end();
    readAll();
    expect(collector).toMatchObject({ complete: true, over: true, error: undefined });
    expect(end).not.toHaveBeenCalled();
  });

  it('reports the failure of an unfinished event', () => {
    const { line, collector, readAll } = accepted();
    line.data(`${event('Hi')}data: failed`).end();
    readAll();
    expect(collector).toMatchObject({ over: true, error: FAILED });
  });

  it('has no failure of an unfinished event after the end marker', () => {
    const { line, collector, readAll } = accepted();
    line.data(`${event('complete')}data: failed`).end();
    readAll();
    expect(collector).toMatchObject({ over: true, error: undefined });
  });
});

describe('an answer over HTTP that is no stream', () => {
  type Failure = NonNullable<HttpProtocol['failure']>;
  const failureSpy = () => vi.fn<Failure>(() => FAILED);

  it('is refused at once, and fails when its body has ended', () => {
    const failure = failureSpy();
    const { source, line } = new PlayedSource({ failure });
    line.head(503, JSON_TYPE);
    expect([source.read(), source.isRefused, source.isAccepted, source.read()]).toEqual([true, true, false, false]);
    line.data('{"error":').data('"busy"}');
    expect(source.read()).toBe(false);
    line.end();
    expect(() => source.read()).toThrow(FAILED);
    expect(failure.mock.calls).toEqual([[503, JSON_TYPE, '{"error":"busy"}']]);
    expect(line.events).toEqual(['release']);
  });

  it.each([
    ['without a method for it', undefined],
    ['without an opinion', () => undefined],
  ])('is reported by its status by a protocol %s', (_, failure) => {
    const { source, line } = new PlayedSource(failure && { failure });
    line.head(429, { 'retry-after': '7' }).end();
    expect(() => source.read()).toThrow(
      expect.objectContaining({ code: 'upstream_unavailable', retryAfterSeconds: 7 }),
    );
  });

  it('is read up to a limit, and not waited for beyond it', () => {
    const failure = failureSpy();
    const { source, line } = new PlayedSource({ failure });
    line.head(500).data('a'.repeat(MAX_ERROR_BYTES - 1));
    expect(source.read()).toBe(true);
    line.data('b'.repeat(10));
    expect(() => source.read()).toThrow(FAILED);
    expect(failure.mock.calls[0]?.[2]).toBe(`${'a'.repeat(MAX_ERROR_BYTES - 1)}b`);
  });

  it.each(['breaks', 'is late'])('is reported by its status when its body %s', (how) => {
    const failure = failureSpy();
    const { source, line } = new PlayedSource({ failure });
    line.head(500).data('half');
    source.read();
    if (how === 'breaks') line.breaks();
    else source.close(LATE);
    expect(() => source.read()).toThrow(FAILED);
    expect(failure.mock.calls).toEqual([[500, { 'content-type': 'text/event-stream' }, 'half']]);
  });

  it.each(['application/json', 'text/event-stream'])('is JSON without any answer, of the type %s', (type) => {
    const failure = failureSpy();
    const { source, line, collector } = new PlayedSource({ failure, open: () => ({ parts: () => [] }) });
    line.head(200, { 'content-type': type }).data(' ').data('{"a":').data('1}').end();
    while (!collector.over) source.read();
    expect(collector.error).toBe(FAILED);
    expect(failure.mock.calls).toEqual([[200, { 'content-type': type }, '{"a":1}']]);
  });

  it.each(['gzip', ' BR '])('is one in the encoding %o, whose body is not read', (encoding) => {
    const failure = failureSpy();
    const { source, line } = new PlayedSource({ failure });
    line.head(200, { 'content-encoding': encoding });
    expect(() => source.read()).toThrow('The provider compressed its answer');
    expect([source.isRefused, failure.mock.calls]).toEqual([false, []]);
  });

  it('has the failure of its status when it is compressed, too', () => {
    const { source, line } = new PlayedSource({ failure: failureSpy() });
    line.head(500, { 'content-encoding': 'gzip' }).end();
    expect(() => source.read()).toThrow(FAILED);
  });
});
