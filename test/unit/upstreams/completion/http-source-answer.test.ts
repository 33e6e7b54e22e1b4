import { describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../../src/common/service-error.js';
import type { HttpProtocol } from '../../../../src/upstreams/contract/protocol.js';
import { event, FAILED, MAX_EVENT_BYTES, PlayedSource, turn } from '../played-source.js';

const MAX_IDLE_EVENTS = 8;
const MAX_ERROR_BYTES = 16 * 1024;
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
  const told = () => vi.fn<Failure>(() => FAILED);

  it('is refused at once, and fails when its body has ended', () => {
    const failure = told();
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
    const failure = told();
    const { source, line } = new PlayedSource({ failure });
    line.head(500).data('a'.repeat(MAX_ERROR_BYTES - 1));
    expect(source.read()).toBe(true);
    line.data('b'.repeat(10));
    expect(() => source.read()).toThrow(FAILED);
    expect(failure.mock.calls[0]?.[2]).toBe(`${'a'.repeat(MAX_ERROR_BYTES - 1)}b`);
  });

  it.each(['breaks', 'is late'])('is reported by its status when its body %s', (how) => {
    const failure = told();
    const { source, line } = new PlayedSource({ failure });
    line.head(500).data('half');
    source.read();
    if (how === 'breaks') line.breaks();
    else source.close(LATE);
    expect(() => source.read()).toThrow(FAILED);
    expect(failure.mock.calls).toEqual([[500, { 'content-type': 'text/event-stream' }, 'half']]);
  });

  it.each(['application/json', 'Application/JSON; charset=utf-8'])('is one of the type %s', (type) => {
    const failure = told();
    const { source, line } = new PlayedSource({ failure });
    line.head(200, { 'content-type': type }).data('{}').end();
    expect(() => source.read()).toThrow(FAILED);
    expect(source.isAccepted).toBe(false);
  });

  it.each(['gzip', ' BR '])('is one in the encoding %o, whose body is not read', (encoding) => {
    const failure = told();
    const { source, line } = new PlayedSource({ failure });
    line.head(200, { 'content-encoding': encoding });
    expect(() => source.read()).toThrow('The provider compressed its answer');
    expect([source.isRefused, failure.mock.calls]).toEqual([false, []]);
  });

  it('has the failure of its status when it is compressed, too', () => {
    const { source, line } = new PlayedSource({ failure: told() });
    line.head(500, { 'content-encoding': 'gzip' }).end();
    expect(() => source.read()).toThrow(FAILED);
  });
});
