import { randomUUID } from 'node:crypto';
import { request, type IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { REPLAYED_BYTES_PER_MINUTE } from '../../src/plugins/durable/replay-rate.js';
import { MODEL, routesTo } from '../support/catalog.js';
import { durableWireOf, resume, streamIdOf } from '../support/durable.js';
import { valueOf } from '../support/metrics.js';
import { openStream, startStream, stream, type ReceivedStream, type StreamOptions } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { HonestStreams } from './support/honest-streams.js';
import { Target } from './support/target.js';

/** Far above what it takes on an idle machine (below 60 ms), and what a busy one makes of it. */
const LATEST_CHUNK_MS = 5_000;
const STREAM_MEMORY_BYTES = 64 * 1024 * 1024;
const PACED_MODEL = 'acme/paced';
const RUNNING = 5;
const LARGE_CALLS = 17;
const CALLS = 42;
/** Each call takes about half of what the calls before it have left. */
const sizeOf = (call: number): number =>
  call < LARGE_CALLS ? 3_900_000 : Math.ceil(800_000 / 2 ** (call - LARGE_CALLS));

const PIECE = 'x'.repeat(60_000);
const ANSWER_BYTES = 6_000_000;
const LOOP_MS = 5_000;

const TIERS = { free: { requests_per_minute: 10_000, concurrent_streams: 50 } };

describe('durable streams next to a greedy account', () => {
  let honest: HonestStreams;
  let target: Target;
  let greedyKey: string;
  let honestKey: string;

  const startTarget = () =>
    Target.start({
      tiers: TIERS,
      catalog: (provider) => {
        const { upstreams, models } = routesTo([provider]);
        const [model] = models;
        return {
          upstreams: {
            ...upstreams,
            paced: { protocol: 'openai', base_url: `${honest.providerOrigin}/v1`, api_key: 'secret-of-paced' },
          },
          models: [...models, { ...model, id: PACED_MODEL, routes: [{ upstream: 'paced', model: 'paced' }] }],
        };
      },
    });

  beforeAll(async () => {
    honest = await HonestStreams.start();
    target = await startTarget();
    greedyKey = await target.createKey('greedy@example.com');
    honestKey = await target.createKey('honest@example.com');
  });
  afterAll(async () => {
    await target.stop();
    await honest.stop();
  });

  const durable = (key: string, content: string): StreamOptions => ({
    key,
    body: { model: MODEL, messages: [{ role: 'user', content }] },
    headers: { 'idempotency-key': randomUUID() },
  });
  const usedBytes = async () => valueOf(await target.metrics(), 'chat_durable_stream_bytes');

  it('are kept, begin and go on while the account holds as much memory as it can', async () => {
    target.provider.answers((call) => {
      call.answer('Hello');
    });
    const kept = await stream(target.origin, durable(honestKey, 'Keep this.'));
    for (let count = 0; count < RUNNING; count++) honest.open(target.origin, honestKey, PACED_MODEL);
    await waitFor(async () => (await honest.report()).chunks >= RUNNING, 'the streams to run');

    // The calls wait for their first text, so the provider still needs their prompts.
    target.provider.answers(() => undefined);
    const refused: ReceivedStream[] = [];
    const calls = Array.from({ length: CALLS }, (_, call) => {
      const started = startStream(target.origin, durable(greedyKey, 'x'.repeat(sizeOf(call))));
      void started.answer.then((answer) => refused.push(answer)).catch(() => undefined);
      return started;
    });
    await waitFor(() => target.provider.calls.length + refused.length >= CALLS, 'all calls to be decided', 60_000);

    expect(await usedBytes()).toBeLessThan(0.6 * STREAM_MEMORY_BYTES);
    expect(refused.length).toBeGreaterThan(CALLS - 2 * LARGE_CALLS);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    expect((await refused[0]?.error())?.code).toBe('unavailable');
    target.provider.answers((call) => {
      call.answer('Hello');
    });
    const started = await openStream(target.origin, durable(honestKey, 'A new one.'));
    expect(await durableWireOf(started)).toMatchObject({ text: 'Hello', terminal: 'done' });
    for (const one of [kept, started]) {
      const again = await resume(target.origin, streamIdOf(one), { key: honestKey });
      expect(await durableWireOf(again)).toMatchObject({ text: 'Hello', terminal: 'done' });
    }
    const { latestMs, chunks, failures } = await honest.report();
    expect([failures, chunks > 0]).toEqual([[], true]);
    expect(latestMs).toBeLessThan(LATEST_CHUNK_MS);
    if (process.env['TEST_FIGURES'] === 'true') console.info({ latestMs });
    for (const { leave } of calls) leave();
  }, 120_000);

  it('have the memory of prompts whose answers have begun', async () => {
    const heapMb = 160;
    const small = await Target.start({ tiers: TIERS, env: { NODE_OPTIONS: `--max-old-space-size=${heapMb}` } });
    onTestFinished(() => small.stop());
    const key = await small.createKey('greedy@example.com');
    small.provider.answers((call) => {
      call.head().text('Hel');
    });
    for (let call = 0; call < CALLS; call++) {
      const answer = await openStream(small.origin, durable(key, 'x'.repeat(sizeOf(0))));
      expect(answer.status).toBe(200);
      // The generation goes on without a reader.
      answer.leave();
      // The provider of the test keeps what it gets.
      small.provider.calls.length = 0;
    }
    if (process.env['TEST_FIGURES'] === 'true') console.info({ residentMiB: await small.residentMiB() });

    const heldBytes = valueOf(await small.metrics(), 'chat_durable_stream_bytes');
    expect(heldBytes).toBeLessThan(CALLS * 2_000);
    // The prompts and the requests to the provider alone would be 160 MB each.
    expect(await small.residentMiB()).toBeLessThan(140 + heapMb);
  }, 120_000);

  it('are not delayed while the account reads its kept streams again in 16 loops', async () => {
    // A service of its own: the minute of its budget begins with the first replay below.
    const target = await startTarget();
    onTestFinished(() => target.stop());
    const greedyKey = await target.createKey('greedy@example.com');
    const honestKey = await target.createKey('honest@example.com');
    target.provider.answers(async (call) => {
      call.head();
      for (let piece = 0; piece < ANSWER_BYTES / PIECE.length; piece++) {
        call.text(PIECE);
        await call.drained();
      }
      call.finish().endMarker().end();
    });
    const large = await Promise.all(
      Array.from({ length: 4 }, () => stream(target.origin, durable(greedyKey, 'A long answer.'))),
    );
    for (const { status, receivedBytes } of large) {
      expect([status, receivedBytes > ANSWER_BYTES]).toEqual([200, true]);
    }
    honest.open(target.origin, honestKey, PACED_MODEL);
    await honest.report();

    const until = performance.now() + LOOP_MS;
    const answers: Replay[] = [];
    const loop = async (id: string): Promise<void> => {
      while (performance.now() < until) answers.push(await replay(target.origin, id, greedyKey));
    };
    const cpuMs = await target.cpuMsDuring(() =>
      Promise.all(large.flatMap((one) => Array.from({ length: 4 }, () => loop(streamIdOf(one))))),
    );

    const readBytes = answers.reduce((sum, { status, bytes }) => sum + (status === 200 ? bytes : 0), 0);
    expect(readBytes).toBeLessThan(1.2 * (REPLAYED_BYTES_PER_MINUTE + 16 * ANSWER_BYTES));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    for (const { status, headers } of refused) {
      expect([status, headers['x-ratelimit-remaining']]).toEqual([429, '0']);
      expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
    }
    const { latestMs, chunks, failures } = await honest.report();
    expect([failures, chunks > 0]).toEqual([[], true]);
    expect(latestMs).toBeLessThan(LATEST_CHUNK_MS);
    if (process.env['TEST_FIGURES'] === 'true') {
      console.info({ latestMs, readMB: readBytes / 1e6, answers: answers.length, refused: refused.length, cpuMs });
    }
  }, 120_000);
});

interface Replay {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: number;
}

/** Reads a whole stream again, and keeps nothing of it. */
function replay(origin: string, id: string, key: string): Promise<Replay> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    const asked = request(`${origin}/api/v1/chat/streams/${id}`, { agent: false, headers }, (response) => {
      let bytes = 0;
      response.on('data', (piece: Buffer) => (bytes += piece.length));
      response.on('close', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes });
      });
    });
    asked.on('error', reject).end();
  });
}
