import { RESP_TYPES } from '@redis/client';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { durableWireOf, readDurable, resume, streamIdOf } from '../support/durable.js';
import { Latch } from '../support/latch.js';
import { ENDED_WITHIN_MS } from '../support/known-within.js';
import { retryWhileOverloaded, STARVED } from '../support/retry-while-overloaded.js';
import { openStream, stream, type ReceivedStream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { wireOf } from '../support/wire.js';
import { outcomesOf } from './support/ledger.js';
import { Replicas, type Replica } from './support/replicas.js';
import { sharedStores } from './support/stores.js';

/** The client returns bytes instead of texts. */
const BYTES = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };
const stores = await sharedStores();
const HALF = 'One half, ';
const REST = 'and the other half.';
const TEXT = HALF + REST;
const WHOLE = { text: TEXT, terminal: 'done' };

describe.skipIf(stores === undefined)('durable streams on three replicas', () => {
  let replicas: Replicas;
  let rest: Latch;

  const start = async (): Promise<void> => {
    const tiers = { free: { requests_per_minute: 1_000 } };
    replicas = await Replicas.start(stores as NonNullable<typeof stores>, { tiers });
  };
  const replica = (index: number): Replica => {
    const found = replicas.all[index];
    if (found === undefined) throw new Error('There is no such replica.');
    return found;
  };
  const askOnce = (index: number, key: string, name: string, lastEventId?: string) =>
    openStream(replica(index).origin, {
      key,
      headers: { 'idempotency-key': name, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) },
    });
  const ask = (...request: Parameters<typeof askOnce>) => retryWhileOverloaded(() => askOnce(...request), STARVED);
  const read = (index: number, key: string, answer: ReceivedStream, lastEventId?: string) =>
    resume(replica(index).origin, streamIdOf(answer), { key, lastEventId });

  beforeAll(start, 180_000);
  beforeEach(() => {
    rest = new Latch();
    const { opened } = rest;
    replicas.provider.calls.length = 0;
    replicas.provider.answers(async (call) => {
      call.head().text(HALF);
      await opened;
      call.text(REST).finish().endMarker().end();
    });
  });
  afterEach(() => {
    rest.open();
  });
  afterAll(async () => {
    await replicas.stop();
    await stores?.redis.drop();
  }, 60_000);

  it('make one call, one record and one counted request of 50 simultaneous repetitions', async () => {
    const { key, accountId } = await replicas.createKey();
    const name = randomUUID();
    rest.open();

    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => ask(index % 3, key, name)));

    const streams = answers.filter(({ status }) => status === 200);
    for (const answer of streams) expect(await durableWireOf(answer)).toMatchObject(WHOLE);
    expect(streams.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
    expect(answers.filter(({ status }) => status !== 200).every(({ status }) => status === 429)).toBe(true);
    expect(replicas.provider.calls).toHaveLength(1);
    const next = await stream(replica(0).origin, { key });
    expect(next.headers['x-ratelimit-remaining']).toBe('998');
    await waitFor(async () => (await outcomesOf(replicas.accounts, accountId))['completed'] === 2, 'two records');
    expect(await outcomesOf(replicas.accounts, accountId)).toEqual({ completed: 2 });
  });

  it('end within two seconds when their key is revoked, and are not kept', async () => {
    const { key, keyId, accountId } = await replicas.createKey().then((created) => ({ ...created, keyId: created.id }));
    const second = await replicas.accounts.get(ApiKeysService).create(accountId, { name: 'second' });
    const first = await ask(0, key, 'revoked');
    const elsewhere = await ask(1, second.key, 'revoked');
    await elsewhere.block(1);

    const revokedAt = performance.now();
    await replicas.accounts.get(ApiKeysService).revoke(keyId, accountId);

    for (const reader of [first, elsewhere]) {
      expect(await durableWireOf(reader)).toMatchObject({ text: HALF, terminal: 'key_revoked' });
    }
    expect(performance.now() - revokedAt).toBeLessThan(ENDED_WITHIN_MS);
    await waitFor(async () => {
      const answer = await read(2, second.key, first);
      await answer.over;
      return answer.status === 404;
    }, 'the stream to be dropped');
  });

  it('that a client wants whole are generated anew when their replica is killed', async () => {
    const { key } = await replicas.createKey();
    const killed = await replicas.add();
    const [body, headers] = [{ stream: false }, { 'idempotency-key': randomUUID() }];
    const path = '/api/v1/chat/completions';
    const own = openStream(killed.origin, { key, path, body, headers });
    own.catch(() => undefined);
    await replicas.provider.call(1);
    const elsewhere = await openStream(replica(0).origin, { key, path, body: { stream: true }, headers });
    await waitFor(() => elsewhere.raw.includes(HALF), 'the text to be kept');

    killed.process.signal('SIGKILL');
    replicas.remove(killed);
    rest.open();
    const statuses: number[] = [];
    const answer = await waitFor(async () => {
      const again = await openStream(replica(0).origin, { key, path, body, headers });
      statuses.push(again.status);
      return again.status === 200 && again;
    }, 'an answer');

    expect(JSON.parse(await answer.body())).toMatchObject({ choices: [{ message: { content: TEXT } }] });
    expect(await elsewhere.body()).toContain('"code":"interrupted"');
    expect(new Set(statuses)).toEqual(new Set([503, 200]));
  }, 120_000);

  /** After an outage, new durable streams are refused for a while. */
  async function redisIsBack(key: string): Promise<void> {
    replicas.redis.restore();
    for (const index of [0, 1, 2]) {
      await waitFor(async () => {
        const answer = await ask(index, key, randomUUID());
        answer.leave();
        return answer.status === 200;
      }, 'new durable streams');
    }
  }

  async function resumeText(index: number, key: string, answer: ReceivedStream): Promise<string> {
    const reader = await read(index, key, answer);
    await reader.block(1);
    reader.leave();
    await reader.over;
    return readDurable(reader.raw).text;
  }

  it('send their readers to another replica when theirs stops, and come to their end', async () => {
    const { key } = await replicas.createKey();
    const stopped = await replicas.add();
    const index = replicas.all.indexOf(stopped);
    const first = await ask(index, key, 'drained');
    await first.block(1);

    stopped.process.signal('SIGTERM');

    expect(await first.over).toBe('ended');
    const wire = readDurable(first.raw);
    expect(wire).toMatchObject({ text: HALF, terminal: undefined });
    const refused = await ask(index, key, 'drained');
    expect([refused.status, (await refused.error()).code]).toEqual([503, 'shutting_down']);
    const second = await ask(0, key, 'drained', wire.ids.at(-1));
    rest.open();
    expect(await durableWireOf(second)).toMatchObject({ text: REST, terminal: 'done' });
    expect((await stopped.process.exited).code).toBe(0);
    replicas.remove(stopped);
    expect(await durableWireOf(await ask(1, key, 'drained'))).toMatchObject(WHOLE);
    expect(replicas.provider.calls).toHaveLength(1);
  }, 120_000);

  it('send a reader to another replica whose first text comes when theirs stops already', async () => {
    const { key } = await replicas.createKey();
    const stopped = await replicas.add();
    const first = new Latch();
    replicas.provider.next(async (call) => {
      await first.opened;
      call.head().text(HALF);
      await rest.opened;
      call.text(REST).finish().endMarker().end();
    });
    const asked = ask(replicas.all.indexOf(stopped), key, 'late');
    await replicas.provider.call(1);

    stopped.process.signal('SIGTERM');
    await waitFor(async () => {
      const refused = await ask(replicas.all.indexOf(stopped), key, 'another');
      return refused.status === 503;
    }, 'the shutdown to begin');
    first.open();

    const answer = await asked;
    expect(await answer.over).toBe('ended');
    expect(readDurable(answer.raw).terminal).toBeUndefined();
    rest.open();
    expect(await durableWireOf(await ask(0, key, 'late'))).toMatchObject(WHOLE);
    expect((await stopped.process.exited).code).toBe(0);
    replicas.remove(stopped);
    expect(replicas.provider.calls).toHaveLength(1);
  }, 120_000);

  it.each(['generates', 'reads'])(
    'of other interfaces come to their end when the replica stops that %s them, and are not given up',
    async (role) => {
      const { key } = await replicas.createKey();
      const stopped = await replicas.add();
      const [path, headers] = ['/api/v1/chat/completions', { 'idempotency-key': randomUUID() }];
      const ask = (at: Replica, isStream: boolean) =>
        openStream(at.origin, { key, path, body: { stream: isStream }, headers });
      const whole = ask(role === 'generates' ? stopped : replica(0), false);
      await replicas.provider.call(1);
      const streams = await Promise.all([stopped, replica(1)].map((at) => ask(at, true)));
      for (const each of streams) await waitFor(() => each.raw.includes(HALF), 'the text to be kept');

      stopped.process.signal('SIGTERM');
      await waitFor(async () => (await ask(stopped, false)).status === 503, 'the shutdown to begin');
      rest.open();

      const received = await whole;
      expect([received.status, JSON.parse(await received.body())]).toMatchObject([
        200,
        { choices: [{ message: { content: TEXT } }] },
      ]);
      for (const each of streams) expect(await each.body()).toContain('[DONE]');
      expect((await stopped.process.exited).code).toBe(0);
      replicas.remove(stopped);
      expect(replicas.provider.calls).toHaveLength(1);
    },
    120_000,
  );

  it('are refused while Redis is unavailable, and those that run continue, also at other replicas afterwards', async () => {
    const { key } = await replicas.createKey();
    const first = await ask(0, key, 'outage');
    const elsewhere = await ask(1, key, 'outage');
    await elsewhere.block(1);
    replicas.redis.cut();
    await waitFor(
      async () => (await stream(replica(0).origin, { key, body: { model: 1 } })).status === 400,
      'an answer',
    );

    const refused = await waitFor(async () => {
      const answer = await askOnce(0, key, 'refused');
      if (answer.status === 503) return answer;
      answer.leave();
      return undefined;
    }, 'the outage to be noticed');
    expect((await refused.error()).code).toBe('unavailable');
    replicas.provider.answers((call) => {
      call.answer(TEXT);
    });
    // The ends come while Redis is away, and wait for it.
    rest.open();
    expect(await wireOf(await stream(replica(0).origin, { key }))).toMatchObject(WHOLE);

    replicas.redis.restore();
    for (const reader of [first, elsewhere]) expect(await durableWireOf(reader)).toMatchObject(WHOLE);
    const again = await waitFor(async () => {
      const answer = await ask(2, key, 'outage');
      return answer.status === 200 && answer;
    }, 'Redis to be back');
    expect(await durableWireOf(again)).toMatchObject(WHOLE);
    await redisIsBack(key);
  }, 120_000);

  it('are written again when Redis comes back empty', async () => {
    const { key } = await replicas.createKey();
    const first = await ask(0, key, 'emptied');
    await first.block(1);
    await waitFor(async () => (await resumeText(1, key, first)) === HALF, 'the text to be kept');
    const elsewhere = await ask(1, key, 'emptied');
    await elsewhere.block(1);

    replicas.redis.cut();
    await sleep(300);
    for (const kept of (await stores?.redis.client.keys('chat:*')) ?? []) await stores?.redis.client.del(kept);
    replicas.redis.restore();

    const again = await waitFor(async () => {
      const answer = await ask(2, key, 'emptied');
      return answer.status === 200 && answer;
    }, 'Redis to be back');
    rest.open();
    for (const reader of [first, elsewhere, again]) expect(await durableWireOf(reader)).toMatchObject(WHOLE);
    expect(replicas.provider.calls).toHaveLength(1);
    await redisIsBack(key);
  }, 120_000);

  it('leave no word in Redis', async () => {
    const { key } = await replicas.createKey();
    replicas.provider.answers((call) => {
      call.answer('PLANTED-ANSWER', ' and more');
    });
    const answer = await openStream(replica(0).origin, {
      key,
      body: { messages: [{ role: 'user', content: 'PLANTED-PROMPT' }] },
      headers: { 'idempotency-key': 'PLANTED-KEY' },
    });
    await answer.over;
    expect(await durableWireOf(await read(1, key, answer))).toMatchObject({ text: 'PLANTED-ANSWER and more' });

    const client = stores?.redis.client;
    const dump: string[] = [];
    for (const name of (await client?.keys('*')) ?? []) {
      dump.push(name, Buffer.from((await client?.sendCommand<Buffer>(['DUMP', name], BYTES)) ?? '').toString('latin1'));
    }
    expect(dump.length).toBeGreaterThan(2);
    expect(dump.join('\n')).not.toContain('PLANTED');
  });
});
