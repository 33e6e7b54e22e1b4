import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MODEL } from '../../support/catalog.js';
import { identityOf, scrape, valueOf, type Series } from '../../support/metrics.js';
import { EventLoopDelay } from '../../../src/plugins/metrics/families/process-families.js';
import { beginning, refusing } from '../../support/scripts.js';
import { get, openStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';

const ENV = { METRICS_PORT: '0' };

describe('/metrics', () => {
  let stage: Stage;
  afterEach(() => stage.clear());

  const until = async (name: string, labels: Record<string, string>, value: number): Promise<Series[]> => {
    let series: Series[] = [];
    await waitFor(
      async () => {
        series = await scrape(stage.service);
        return valueOf(series, name, labels) === value;
      },
      `${name}${JSON.stringify(labels)} to be ${value}`,
    );
    return series;
  };

  it('counts streams by how they ended, with their times, tokens and bytes', async () => {
    stage = await setStage(1, { env: ENV });
    const whole = await stream(stage.origin, { key: stage.key });
    stage.provider.next(async (call) => {
      call.head().text('Half');
      await call.cut('fin');
    });
    await stream(stage.origin, { key: stage.key });
    stage.provider.next(refusing(400));
    await stream(stage.origin, { key: stage.key });
    stage.provider.next(beginning('Hello'));
    const left = await openStream(stage.origin, { key: stage.key });
    await left.block(1);
    expect(valueOf(await scrape(stage.service), 'chat_open_streams')).toBe(1);
    left.leave();

    const series = await until('chat_streams_total', { outcome: 'client_gone' }, 1);

    const model = MODEL;
    expect(valueOf(series, 'chat_streams_total', { model, outcome: 'completed' })).toBe(1);
    expect(valueOf(series, 'chat_streams_total', { model, outcome: 'upstream_failed' })).toBe(1);
    expect(valueOf(series, 'chat_streams_total', { model, outcome: 'rejected' })).toBe(1);
    expect(valueOf(series, 'chat_streams_total')).toBe(4);
    expect(valueOf(series, 'chat_open_streams')).toBe(0);
    expect(valueOf(series, 'chat_stream_time_to_first_token_seconds_count', { model })).toBe(3);
    expect(valueOf(series, 'chat_stream_duration_seconds_bucket', { model, le: '+Inf' })).toBe(4);
    expect(valueOf(series, 'chat_upstream_attempts_total', { upstream: 'acme' })).toBe(4);
    expect(valueOf(series, 'chat_upstream_errors_total', { upstream: 'acme', code: 'upstream_error' })).toBe(1);
    expect(valueOf(series, 'chat_errors_total', { code: 'upstream_error' })).toBe(1);
    expect(valueOf(series, 'chat_errors_total', { code: 'upstream_rejected' })).toBe(1);
    expect(valueOf(series, 'chat_stream_tokens_total', { kind: 'output', source: 'estimated' })).toBeGreaterThan(0);
    expect(valueOf(series, 'chat_http_response_bytes_total')).toBeGreaterThan(whole.receivedBytes);
    const route = '/api/v1/chat/stream';
    expect(valueOf(series, 'chat_http_requests_total', { method: 'POST', route, status: '200' })).toBe(3);
    expect(valueOf(series, 'chat_http_requests_total', { method: 'POST', route, status: '400' })).toBe(1);
  });

  it('counts the latencies between texts, and none before the first', async () => {
    stage = await setStage(1, { env: ENV });
    let goOn: (() => void)[] = [];
    stage.provider.next(async (call) => {
      call.head();
      for (const text of ['one', 'two', 'three']) {
        call.text(text);
        await new Promise<void>((resolve) => goOn.push(resolve));
      }
      call.finish().endMarker().end();
    });
    const received = await openStream(stage.origin, { key: stage.key });
    for (const number of [1, 2, 3]) {
      await received.block(number);
      for (const step of goOn) step();
      goOn = [];
    }
    await received.over;

    const series = await until('chat_streams_total', { outcome: 'completed' }, 1);
    expect(valueOf(series, 'chat_stream_inter_chunk_latency_seconds_count', { model: MODEL })).toBe(2);
  });

  it('shows attempts that wait for their first text, and how long', async () => {
    stage = await setStage(1, { env: ENV });
    stage.provider.next((call) => void call.head());
    const waiting = stream(stage.origin, { key: stage.key });
    const route = { upstream: 'acme', model: 'acme-model' };
    const series = await until('chat_route_waiting_attempts', route, 1);
    expect(valueOf(series, 'chat_route_longest_wait_seconds', route)).toBeGreaterThan(0);
    (await stage.provider.call(1)).text('Hello').finish().endMarker().end();
    await waiting;
    expect(
      valueOf(await until('chat_route_waiting_attempts', route, 0), 'chat_route_longest_wait_seconds', route),
    ).toBe(0);
  });

  it('counts failovers, open circuits, limits and slots', async () => {
    stage = await setStage(2, {
      env: ENV,
      tiers: { free: { requests_per_minute: 8, concurrent_streams: 1 } },
    });
    const [first, second] = stage.providers;
    first?.answers(refusing(500));
    for (let count = 0; count < 6; count++) await stream(stage.origin, { key: stage.key });
    second?.next(beginning('Hello'));
    const running = await openStream(stage.origin, { key: stage.key });
    await running.block(1);
    await stream(stage.origin, { key: stage.key });

    let series = await scrape(stage.service);
    expect(valueOf(series, 'chat_upstream_failovers_total', { upstream: 'acme' })).toBe(5);
    expect(valueOf(series, 'chat_upstream_circuit_breaker_state', { upstream: 'acme', state: 'open' })).toBe(1);
    expect(valueOf(series, 'chat_upstream_circuit_breaker_state', { upstream: 'acme', state: 'closed' })).toBe(0);
    expect(valueOf(series, 'chat_upstream_circuit_breaker_state', { upstream: 'backup', state: 'closed' })).toBe(1);
    const route = { upstream: 'acme', model: 'acme-model' };
    expect(valueOf(series, 'chat_route_circuit_breaker_state', { ...route, state: 'open' })).toBe(1);
    expect(valueOf(series, 'chat_route_circuit_breaker_state', { ...route, state: 'closed' })).toBe(0);
    expect(valueOf(series, 'chat_stream_slots_in_use')).toBe(1);
    expect(valueOf(series, 'chat_limit_rejections_total', { limit: 'concurrent_streams', tier: 'free' })).toBe(1);

    running.leave();
    await until('chat_stream_slots_in_use', {}, 0);
    await stream(stage.origin, { key: stage.key });
    await stream(stage.origin, { key: stage.key });
    series = await until('chat_limit_rejections_total', { limit: 'requests_per_minute', tier: 'free' }, 1);
    expect(valueOf(series, 'chat_errors_total', { code: 'rate_limit_exceeded' })).toBe(1);
  });

  it('has no more series after many names that clients made up', async () => {
    stage = await setStage(1, { env: ENV });
    const { origin, key } = stage;
    const trouble = async (word: string): Promise<void> => {
      await get(origin, `/${word}?${word}=1`);
      await get(origin, `/api/v1/${word}`, { 'x-request-id': word });
      await stream(origin, { key, method: 'PROPFIND', path: `/${word}` });
      await stream(origin, { key, body: { model: `acme/${word}` } });
      await stream(origin, { key, body: { [word]: 1 } });
      await stream(origin, { key: word });
      const { key: another } = await stage.service.createKey();
      await stream(origin, { key: another, headers: { 'x-request-id': word } });
    };
    await trouble('first');
    const before = await until('chat_streams_total', { outcome: 'completed' }, 1);
    for (let count = 0; count < 40; count++) await trouble(`word${count}`);
    const after = await until('chat_streams_total', { outcome: 'completed' }, 41);

    // Node's own, such as those of kinds of garbage, come with what it does.
    const ours = (series: readonly Series[]) => series.map(identityOf).filter((name) => name.startsWith('chat_'));
    expect(ours(after)).toEqual(ours(before));
    expect(after.map(identityOf).join('\n')).not.toMatch(/word\d|first"|@|csk_|[0-9a-f]{8}-[0-9a-f]{4}-/);
  });

  it('answers anything else with 404, as JSON', async () => {
    stage = await setStage(1, { env: ENV });
    for (const path of ['/', '/metric', '/metrics/x', '/api/v1/health']) {
      const answer = await get(stage.service.metricsOrigin(), path);
      expect(answer.status).toBe(404);
      expect(await answer.error()).toMatchObject({ code: 'not_found' });
    }
    const posted = await stream(stage.service.metricsOrigin(), { path: '/metrics' });
    expect(posted.status).toBe(404);
    expect((await get(stage.origin, '/metrics')).status).toBe(404);
  });

  it('ends with the service within seconds, also where a scraper never ends its request', async () => {
    stage = await setStage(1, { env: ENV, pace: 10 });
    const { hostname, port } = new URL(stage.service.metricsOrigin());
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.on('error', () => undefined).write('GET /metrics HTTP/1.1\r\nHost: x\r\n');
    // So the server has read what was sent before.
    await scrape(stage.service);
    const closed = once(socket.resume(), 'close');
    const stopped = vi.spyOn(EventLoopDelay.prototype, 'stop');
    await stage.clear();
    expect(stopped).toHaveBeenCalledTimes(1);
    await closed;
    expect(() => stage.service.metricsOrigin()).toThrow();
  });

  it('is not there where METRICS_PORT is not set', async () => {
    stage = await setStage(1);
    expect(() => stage.service.metricsOrigin()).toThrow();
  });
});
