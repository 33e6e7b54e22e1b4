import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../../src/common/service-error.js';
import { Latch } from '../../../support/latch.js';
import { PlayedConnection } from '../played-connection.js';
import { event, PlayedSource, REQUEST, turn, upstream } from '../played-source.js';

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
    const { line, source, send, onChange } = new PlayedSource({
      lines: [new PlayedConnection({ reused: true }), fresh],
      headers: { traceparent: 'of the attempt' },
    });
    line.breaks();
    expect(source.read()).toBe(false);
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
