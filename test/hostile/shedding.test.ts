import { afterEach, describe, expect, it } from 'vitest';
import { EventLoop } from '../../src/platform/common/event-loop/event-loop.js';
import { Latch } from '../support/latch.js';
import { scrape, valueOf } from '../support/metrics.js';
import { openStream, stream, type ReceivedStream } from '../support/sse-client.js';
import { setStage, type Stage } from '../support/stage.js';
import { waitFor } from '../support/wait-for.js';
import { wireOf } from '../support/wire.js';
import { getRequest, RawConnection, streamRequest } from './support/raw-connection.js';
import { Target } from './support/target.js';

const MAX_STREAMS = 3;
/** 1.6 MB, more than the operating system takes off the process's hands when it is asked for many times. */
const LARGE_PATH = '/api/docs/swagger-ui-bundle.js';
const LARGE = getRequest(LARGE_PATH);

describe('shedding load', () => {
  const clearing: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const clear of clearing.splice(0).reverse()) await clear();
  });

  async function staged(env: Record<string, string> = {}, tiers?: Record<string, object>): Promise<Stage> {
    const stage = await setStage(1, { env: { METRICS_PORT: '0', ...env }, ...(tiers && { tiers }) });
    clearing.push(() => stage.clear());
    return stage;
  }

  const shed = async ({ service }: Stage, reason: string): Promise<number> =>
    valueOf(await scrape(service), 'chat_shed_total', { reason });

  async function expectUnavailable(answer: ReceivedStream): Promise<void> {
    expect(answer.status).toBe(503);
    expect((await answer.error()).code).toBe('unavailable');
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  }

  it('lets as many streams run as MAX_STREAMS says, and refuses more without using up a limit', async () => {
    const limits = { requests_per_minute: 100, concurrent_streams: 50 };
    const stage = await staged({ MAX_STREAMS: String(MAX_STREAMS) }, { free: limits });
    const latch = new Latch();
    stage.provider.answers(async (call) => {
      call.head().text('Hel');
      await latch.opened;
      call.text('lo').finish().endMarker().end();
    });

    const answers = await Promise.all(Array.from({ length: 20 }, () => openStream(stage.origin, { key: stage.key })));

    const running = answers.filter(({ status }) => status === 200);
    expect(running).toHaveLength(MAX_STREAMS);
    for (const refused of answers.filter(({ status }) => status !== 200)) await expectUnavailable(refused);
    const late = await stream(stage.origin, { key: stage.key });
    await expectUnavailable(late);
    expect(late.headers['x-ratelimit-remaining']).toBe(String(100 - MAX_STREAMS));
    latch.open();
    for (const answer of running) expect(await wireOf(answer)).toMatchObject({ text: 'Hello', terminal: 'done' });
    expect((await stream(stage.origin, { key: stage.key })).headers['x-ratelimit-remaining']).toBe('96');
  });

  it('refuses before it reads the body, also for a tier without limits', async () => {
    const stage = await staged({ MAX_STREAMS: '1' });
    const { origin, key, provider } = stage;
    provider.answers(() => undefined);
    const running = (await RawConnection.open(origin)).send(streamRequest(key));
    await provider.call(1);
    const [head = ''] = streamRequest(key).split('\r\n\r\n');
    const refused = (await RawConnection.open(origin)).send(`${head}\r\n\r\n`);

    await waitFor(() => refused.received.includes('"unavailable"'), 'the refusal');

    expect(refused.received).toMatch(/^HTTP\/1\.1 503 [^]*\r\nRetry-After: [1-9]/);
    expect(await shed(stage, 'streams')).toBe(1);
    running.leave();
    provider.answers((call) => {
      call.answer('Hi');
    });
    await waitFor(async () => (await stream(origin, { key })).status === 200, 'the slot to be released');
    refused.leave();
  });

  it('serves one stream after the other, though providers do not end their answers', async () => {
    const stage = await staged({ MAX_STREAMS: '1' });
    const { origin, key, provider } = stage;
    provider.answers((call) => {
      call.head().text('Hi').finish().endMarker();
    });
    for (let round = 0; round < 5; round++) {
      expect(await wireOf(await stream(origin, { key }))).toMatchObject({ text: 'Hi', terminal: 'done' });
    }
    expect(await shed(stage, 'upstream_connections')).toBe(0);
  });

  /** Keeps the event loop of service and test busy for blocks of time, and lets it turn in between. */
  async function block(blockMs: number, count: number): Promise<void> {
    for (let round = 0; round < count; round++) {
      const until = performance.now() + blockMs;
      while (performance.now() < until);
      await new Promise(setImmediate);
    }
  }

  it('refuses new streams while the event loop lags for seconds, and lets those that run go on', async () => {
    const stage = await staged();
    const latch = new Latch();
    stage.provider.next(async (call) => {
      call.head().text('Hel');
      await latch.opened;
      call.text('lo').finish().endMarker().end();
    });
    const running = await openStream(stage.origin, { key: stage.key });
    await running.block(1);
    const eventLoop = stage.service.app.get(EventLoop, { strict: false });
    eventLoop.watch();

    await block(1_500, 1);
    expect((await stream(stage.origin, { key: stage.key })).status).toBe(200);

    await block(300, 10);
    expect(eventLoop.isOverloaded).toBe(true);
    await expectUnavailable(await stream(stage.origin, { key: stage.key }));
    latch.open();
    expect(await wireOf(running)).toMatchObject({ text: 'Hello', terminal: 'done' });
    await waitFor(async () => (await stream(stage.origin, { key: stage.key })).status === 200, 'it to recover');
  });

  it('cuts clients that do not read their answers, and holds little memory for them', async () => {
    const target = await Target.start({ env: { UNREAD_ANSWER_SECONDS: '2' } });
    clearing.push(() => target.stop());
    const cut = async () => valueOf(await target.metrics(), 'chat_shed_total', { reason: 'unread_answer' });
    const before = await target.residentMiB();
    const connections = await RawConnection.openMany(target.origin, 100);
    for (const connection of connections) connection.socket.pause();

    const health = await target.healthDuring(async () => {
      for (const connection of connections) connection.send(LARGE.repeat(20));
      await waitFor(async () => (await cut()) >= 100, 'all of them to be cut', 30_000);
    });

    expect(health.failed).toBe(0);
    expect((await target.residentMiB()) - before).toBeLessThan(150);
    for (const connection of connections) connection.leave();
  });

  it('does not cut a client that reads slowly', async () => {
    const stage = await staged({ UNREAD_ANSWER_SECONDS: '2' });
    const last = getRequest(LARGE_PATH, 'Connection: close\r\n');
    const connection = (await RawConnection.open(stage.origin)).send(LARGE.repeat(19), last);
    connection.socket.on('data', () => {
      connection.socket.pause();
      setTimeout(() => connection.socket.resume(), 10);
    });
    await connection.closed;
    expect(connection.answers).toHaveLength(20);
    expect(await shed(stage, 'unread_answer')).toBe(0);
    connection.leave();
  });

  it('does not cut a stream that its client reads later', async () => {
    const stage = await staged({ UNREAD_ANSWER_SECONDS: '1' });
    const pieces = 2_000;
    stage.provider.answers(async (call) => {
      call.head();
      for (let piece = 0; piece < pieces; piece++) {
        call.text('x'.repeat(10_000));
        await call.drained();
      }
      call.finish().endMarker().end();
    });
    const answer = await openStream(stage.origin, { key: stage.key });
    answer.pause();
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    answer.resume();
    expect((await wireOf(answer)).terminal).toBe('done');
  });
});
