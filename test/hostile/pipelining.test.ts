import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Latch } from '../support/latch.js';
import { valueOf } from '../support/metrics.js';
import type { Script } from '../../src/testing/provider/scripted-provider.js';
import { waitFor } from '../support/wait-for.js';
import { getRequest, RawConnection, streamRequest } from './support/raw-connection.js';
import { MAX_HEALTH_MS, Target } from './support/target.js';

const SLOTS = 50;
const HEALTH = getRequest('/api/v1/health');
const MODELS = getRequest('/api/v1/chat/models');
const UNKNOWN_KEY = `csk_${'a'.repeat(49)}`;

const silent: Script = () => undefined;
const endless: Script = (call) => {
  call.head().text('Hi');
};

describe('a client that pipelines', () => {
  let target: Target;
  let key: string;

  beforeAll(async () => {
    target = await Target.start({ tiers: { free: { concurrent_streams: SLOTS }, one: { concurrent_streams: 1 } } });
    target.provider.closesConnections();
    key = await target.createKey();
  });
  beforeEach(() => {
    target.provider.answers((call) => {
      call.answer('Hello', ' world');
    });
  });
  afterAll(() => target.stop());

  const repeat = (count: number, ...requests: string[]): string => requests.join('').repeat(count);
  const providerCalls = (): number => target.provider.calls.length;

  async function expectNothingHeld(): Promise<void> {
    await waitFor(async () => {
      const series = await target.metrics();
      return valueOf(series, 'chat_stream_slots_in_use') === 0 && valueOf(series, 'chat_open_streams') === 0;
    }, 'every slot to come free');
  }

  async function connect(): Promise<RawConnection> {
    return RawConnection.open(target.origin);
  }

  const streams = (count: number, content?: string): string => repeat(count, streamRequest(key, content));

  const leaving: readonly [string, (connection: RawConnection) => void][] = [
    ['closes the connection', ({ socket }) => socket.destroy()],
    ['resets the connection', ({ socket }) => socket.resetAndDestroy()],
    ['sends nothing more and goes on reading', ({ socket }) => socket.end()],
  ];

  it.each(leaving)('50 streams and %s leaves no slot behind', async (_, leave) => {
    const before = providerCalls();
    target.provider.answers(endless);
    const connection = (await connect()).send(streams(SLOTS));
    await target.provider.call(before + 1);

    leave(connection);

    await expectNothingHeld();
    expect(providerCalls()).toBe(before + 1);
    connection.leave();
  });

  it('streams and leaves after some answers leaves no slot behind', async () => {
    const before = providerCalls();
    target.provider.next(
      ...Array.from({ length: 5 }, () => (call: Parameters<Script>[0]) => {
        call.answer('Hi');
      }),
      silent,
    );
    const connection = (await connect()).send(streams(SLOTS));
    await target.provider.call(before + 6);

    connection.leave();

    await expectNothingHeld();
    expect(connection.answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(providerCalls()).toBe(before + 6);
  });

  it.each([
    ['20 KB', 20_000],
    ['200 KB', 200_000],
  ])('streams with bodies of %s and leaves while the provider is silent leaves no slot behind', async (_, length) => {
    const before = providerCalls();
    target.provider.answers(silent);
    const connection = (await connect()).send(streams(SLOTS, 'x'.repeat(length)));
    await target.provider.call(before + 1);

    connection.leave();

    await expectNothingHeld();
    expect(providerCalls()).toBe(before + 1);
  });

  it('all kinds of requests on 100 connections and leaves leaves no slot behind', async () => {
    target.provider.answers(endless);
    const mixed = repeat(
      5,
      HEALTH,
      streamRequest(key),
      MODELS,
      streamRequest(UNKNOWN_KEY),
      'POST /sign-in HTTP/1.1\r\n\r\n',
    );
    const connections = await RawConnection.openMany(target.origin, 100);
    const health = await target.healthDuring(async () => {
      for (const connection of connections) connection.send(mixed, streamRequest(key).slice(0, -10));
      await waitFor(async () => valueOf(await target.metrics(), 'chat_open_streams') === SLOTS, 'the streams to begin');
      for (const connection of connections) connection.leave();
      await expectNothingHeld();
    });
    expect(health.failed).toBe(0);
    expect(health.longestMs).toBeLessThan(MAX_HEALTH_MS);
  });

  it('and reads gets every answer, in order', async () => {
    const round = [HEALTH, streamRequest(key), MODELS, streamRequest(UNKNOWN_KEY), getRequest('/api/v1/none')];
    const connection = (await connect()).send(repeat(10, ...round));

    const answers = await waitFor(() => (connection.answers.length === 50 ? connection.answers : false), 'the answers');

    for (let index = 0; index < 50; index += 5) {
      const [health, text, models, refused, missing] = answers.slice(index, index + 5);
      expect(health?.body).toContain('healthy');
      expect(text?.body).toContain('world');
      expect(text?.body).toContain('"done":true');
      expect(models?.body).toContain('context_length');
      expect([refused?.status, missing?.status]).toEqual([401, 404]);
    }
    connection.leave();
  });

  it('streams beyond its streams at once gets them one after the other', async () => {
    const account = ['--email', 'one@example.com'];
    await target.installation.admin(
      'account',
      'create',
      ...account,
      '--password',
      'correct horse battery',
      '--tier',
      'one',
    );
    const { key: one = '' } = await target.installation.admin('key', 'create', ...account, '--name', 'one');
    const connection = (await connect()).send(repeat(10, streamRequest(one)));

    const answers = await waitFor(() => (connection.answers.length === 10 ? connection.answers : false), 'the answers');

    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    connection.leave();
  });

  it('bodies that have to wait for the answers before them gets all answers', async () => {
    const connection = (await connect()).send(streams(10, 'x'.repeat(100_000)));
    const answers = await waitFor(() => (connection.answers.length === 10 ? connection.answers : false), 'the answers');
    expect(answers.every(({ body }) => body.includes('"done":true'))).toBe(true);
    connection.leave();
  });

  it('receives 100 Continue when the turn of its body comes', async () => {
    const body = '{"model":"acme/none","messages":[{"role":"user","content":"Hi"}]}';
    const [head = ''] = streamRequest(key).split('Content-Length');
    const expecting = `${head}Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`;
    const connection = (await connect()).send(streamRequest(key), expecting);
    await waitFor(() => connection.answers.length === 2, 'the word to go on');
    connection.send(body);
    await waitFor(() => connection.answers.length === 3, 'the last answer');
    expect(connection.answers.map(({ status }) => status)).toEqual([200, 100, 404]);
    connection.leave();
  });

  it('nonsense behind a stream does not get an error inside the stream', async () => {
    const before = providerCalls();
    target.provider.answers(silent);
    const connection = (await connect()).send(streamRequest(key));
    await target.provider.call(before + 1);
    connection.send('NONSENSE\r\n\r\n');
    await connection.closed;
    expect(connection.received).toBe('');
    await expectNothingHeld();
  });

  it('several bodies and leaves while a later answer is silent leaves no slot behind', async () => {
    const before = providerCalls();
    const latch = new Latch();
    target.provider.next(async (call) => {
      call.head().text('Hi');
      await latch.opened;
      call.finish().endMarker().end();
    }, silent);
    const connection = (await connect()).send(
      streamRequest(key),
      ...[200_000, 100_000, 100_000, 100_000].map((length) => streamRequest(key, 'x'.repeat(length))),
    );
    await target.provider.call(before + 1);
    await sleep(300);
    latch.open();
    await target.provider.call(before + 2);

    connection.leave();

    await expectNothingHeld();
    expect(providerCalls()).toBe(before + 2);
  });

  it('more requests than may wait is cut off', async () => {
    const before = providerCalls();
    target.provider.answers(endless);
    const connection = (await connect()).send(streamRequest(key));
    await target.provider.call(before + 1);

    connection.send(repeat(1_000, HEALTH));

    await connection.closed;
    await expectNothingHeld();
    expect(valueOf(await target.metrics(), 'chat_shed_total', { reason: 'connections' })).toBeGreaterThan(0);
  });

  it('megabytes behind a stream keeps its stream, and the connection ends with it', async () => {
    const before = providerCalls();
    target.provider.next(async (call) => {
      call.head().text('Hel');
      await waitFor(
        async () => valueOf(await target.metrics(), 'chat_shed_total', { reason: 'connections' }) > shedBefore,
        'the requests behind the stream to be dropped',
      );
      call.text('lo').finish().endMarker().end();
    });
    const shedBefore = valueOf(await target.metrics(), 'chat_shed_total', { reason: 'connections' });
    const connection = (await connect()).send(streams(20, 'x'.repeat(200_000)));

    await connection.closed;

    const [answer, ...others] = connection.answers;
    expect(answer?.body).toContain('lo');
    expect(answer?.body).toContain('"done":true');
    expect(others).toEqual([]);
    expect(providerCalls()).toBe(before + 1);
    await expectNothingHeld();
  });

  it('more behind requests that were dropped is not served, and leaves no slot behind', async () => {
    const before = providerCalls();
    const shedBefore = valueOf(await target.metrics(), 'chat_shed_total', { reason: 'connections' });
    const dropped = new Latch();
    target.provider.next(async (call) => {
      call.head().text('Hel');
      await dropped.opened;
      call.text('lo').finish().endMarker().end();
    });
    const connection = (await connect()).send(streams(3, 'x'.repeat(200_000)));
    await waitFor(
      async () => valueOf(await target.metrics(), 'chat_shed_total', { reason: 'connections' }) > shedBefore,
      'the requests behind the stream to be dropped',
    );
    dropped.open();
    await waitFor(() => connection.received.includes('"done":true'), 'the end of the stream');
    const sending = setInterval(() => connection.send(streams(1)), 100);

    await new Promise((resolve) => connection.socket.once('close', resolve));
    clearInterval(sending);

    expect(connection.answers).toHaveLength(1);
    await expectNothingHeld();
    expect(providerCalls()).toBe(before + 1);
  });
});
