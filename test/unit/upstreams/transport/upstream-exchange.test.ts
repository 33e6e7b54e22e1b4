import type { Dispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../../src/platform/common/service-error.js';
import type { UpstreamRequest } from '../../../../src/upstreams/contract/protocol.js';
import { UpstreamExchange } from '../../../../src/upstreams/transport/upstream-exchange.js';
import { PlayedConnection, turn } from '../played-connection.js';

const REQUEST: UpstreamRequest = {
  url: new URL('http://acme.test/v1/chat?beta=true'),
  headers: {},
  body: '{}',
};

const HIGH_WATER_BYTES = 64 * 1024;
const MAX_WAITING_PIECES = 1_024;
const MAX_INTERIM_RESPONSES = 16;
const GRACE_MS = 100;
const GONE = new Error('The client has left.');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
});

function begin(line = new PlayedConnection()) {
  const onChange = vi.fn<() => void>();
  return { line, onChange, exchange: new UpstreamExchange(line, REQUEST, onChange) };
}

describe('an exchange', () => {
  it('reports once all that arrives in one go', async () => {
    const { line, onChange } = begin();
    line.head();
    await turn();
    line.data('a').data('b');
    expect(onChange).toHaveBeenCalledTimes(1);
    await turn();
    expect(onChange).toHaveBeenCalledTimes(2);
    line.data('c').end();
    await turn();
    expect(onChange).toHaveBeenCalledTimes(3);
  });

  it('passes a single piece on without a copy', () => {
    const { exchange } = begin();
    const piece = Buffer.from('a');
    exchange.onResponseData({} as Dispatcher.DispatchController, piece);
    expect(exchange.take()).toBe(piece);
  });

  it('releases its connection to the next request before it reports the end', async () => {
    const { line, onChange } = begin();
    line.head().end();
    expect(line.events).toEqual(['release']);
    expect(onChange).not.toHaveBeenCalled();
    await turn();
    expect(onChange).toHaveBeenCalledTimes(1);
  });

  it('waits for the response after a limited number of interim responses', async () => {
    const { line, onChange, exchange } = begin();
    for (let count = 1; count <= MAX_INTERIM_RESPONSES; count++) line.head(103);
    await turn();
    expect([exchange.head, exchange.failure, onChange.mock.calls]).toEqual([undefined, undefined, []]);
    line.head(103);
    expect(line.events).toEqual(['spare', 'abort: The provider sent too many interim responses.']);
    expect(() => exchange.take()).toThrow(expect.objectContaining({ code: 'upstream_error' }));
  });
});

describe('an exchange with a slow reader', () => {
  it.each([
    ['bytes', 'x'.repeat(HIGH_WATER_BYTES / 2), 2, 'x'],
    ['pieces', 'x', MAX_WAITING_PIECES - 1, 'x'],
  ])('stops reading from the provider above the limit of %s, until the bytes are read', (_, piece, count, last) => {
    const { line, exchange } = begin();
    for (let number = 0; number < count; number++) line.data(piece);
    expect(line.events).toEqual([]);
    line.data(last);
    expect(line.events).toEqual(['pause']);
    expect(exchange.take()).toHaveLength(piece.length * count + last.length);
    expect(line.events).toEqual(['pause', 'resume']);
  });

  it('counts only what still waits', () => {
    const { line, exchange } = begin();
    for (let count = 1; count <= 3; count++) {
      line.data('x'.repeat(HIGH_WATER_BYTES));
      exchange.take();
    }
    expect(line.events).toEqual([]);
  });
});

describe('an exchange that fails', () => {
  it('more than a second after the request was not sent too late: the provider may have worked on it', () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
    const [early, late] = [0, 1].map(() => begin(new PlayedConnection({ reused: true })));
    now.mockReturnValue(1_999);
    early?.line.breaks();
    now.mockReturnValue(2_000);
    late?.line.breaks();
    now.mockRestore();
    expect([early?.exchange.wasSentTooLate, late?.exchange.wasSentTooLate]).toEqual([true, false]);
  });

  it.each<[string, (line: PlayedConnection) => void]>([
    ['after the head', (line) => line.head().breaks()],
    ['for another reason', (line) => line.breaks('UND_ERR_HEADERS_OVERFLOW')],
  ])('%s was not sent too late', (_, fail) => {
    const { line, exchange } = begin(new PlayedConnection({ reused: true }));
    fail(line);
    expect([exchange.wasSentTooLate, exchange.failure]).toEqual([false, expect.any(ServiceError)]);
  });
});

describe('an exchange that is closed', () => {
  it('before its connection is open is aborted when it opens', () => {
    const { line, exchange } = begin(new PlayedConnection({ isOpen: false }));
    exchange.close(GONE);
    expect(line.events).toEqual(['spare']);
    line.open();
    expect(line.events).toEqual(['spare', `abort: ${GONE.message}`]);
  });
});

describe('an exchange that is finished', () => {
  function finish(line = new PlayedConnection()) {
    const started = begin(line);
    started.exchange.finish(GRACE_MS);
    return started;
  }

  it('closes the connection when the body does not end in time, and wakes no reader', async () => {
    const { line, onChange, exchange } = finish();
    line.head();
    await vi.advanceTimersByTimeAsync(GRACE_MS - 1);
    expect(line.events).toEqual(['spare']);
    await vi.advanceTimersByTimeAsync(1);
    expect(line.events).toEqual(['spare', 'spare', 'abort: The provider did not end the body.']);
    expect(exchange.failure).toMatchObject({ code: 'upstream_error' });
    expect(onChange).not.toHaveBeenCalled();
  });

  it('does not hold up the end of the process', async () => {
    const started = vi.spyOn(globalThis, 'setTimeout');
    const { exchange } = finish();
    expect(started.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([false]);
    exchange.close(GONE);
    await turn();
  });

  it('resumes a provider that it had stopped reading, and returns no more bytes', async () => {
    const { line, exchange } = begin();
    line.head().data('x'.repeat(HIGH_WATER_BYTES + 1));
    exchange.finish(GRACE_MS);
    expect(line.events).toEqual(['pause', 'spare', 'resume']);
    line.data('x');
    expect(exchange.take()).toBeUndefined();
    line.end();
    expect([exchange.isOver, line.events.at(-1)]).toEqual([true, 'release']);
    await turn();
  });

  it('closes the connection when too many bytes follow the answer', async () => {
    const { line, exchange } = finish();
    line
      .head()
      .data('x')
      .data('x'.repeat(HIGH_WATER_BYTES - 1));
    expect([line.events, exchange.failure]).toEqual([['spare'], undefined]);
    line.data('x');
    expect(line.events).toEqual(['spare', 'spare', 'abort: The provider sent too many bytes after the answer.']);
    await turn();
  });
});
