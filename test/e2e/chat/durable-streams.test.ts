import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cancel, durableWireOf, readDurable, resume, streamIdOf } from '../../support/durable.js';
import { Latch } from '../../support/latch.js';
import { scrape, valueOf } from '../../support/metrics.js';
import { answering } from '../../support/scripts.js';
import { openStream, startStream, stream, type ReceivedStream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';
import { wireOf } from '../../support/wire.js';

const TIERS = { free: {}, counted: { requests_per_minute: 4, concurrent_streams: 1 } };
const WORDS = ['The ', 'quick ', 'brown ', '🦊 ', 'jumps.'];
const TEXT = WORDS.join('');

describe('a durable stream', () => {
  let stage: Stage;
  let key: string;

  beforeAll(async () => {
    stage = await setStage(1, {
      tiers: TIERS,
      env: { STREAM_DETACHED_SECONDS: '1', METRICS_PORT: '0' },
    });
    ({ key } = stage);
  });
  beforeEach(() => {
    stage.provider.calls.length = 0;
    stage.provider.answers(answering(...WORDS));
  });
  afterAll(() => stage.clear());

  /** Opens a durable stream. Each call with the same name is a repetition. */
  const open = (name: string, options: Parameters<typeof openStream>[1] = {}) =>
    openStream(stage.origin, {
      key,
      ...options,
      headers: { 'idempotency-key': name, ...options.headers },
    });
  const calls = () => stage.provider.calls.length;

  /** Answers half of the words, and the rest when the latch opens. */
  function halfAnswer(): Latch {
    const latch = new Latch();
    stage.provider.answers(async (call) => {
      call.head().text(WORDS.slice(0, 3).join(''));
      await latch.opened;
      for (const word of WORDS.slice(3)) call.text(word);
      call.finish().endMarker().end();
    });
    return latch;
  }

  it('has an id of its own, and an id for each text', async () => {
    const answer = await open('ids');

    const wire = await durableWireOf(answer);

    expect(answer.status).toBe(200);
    expect(streamIdOf(answer)).toMatch(/^[\w-]{43,}$/);
    expect(answer.headers['idempotency-replayed']).toBeUndefined();
    expect(wire).toMatchObject({ text: TEXT, terminal: 'done', rest: '' });
    expect(new Set(wire.ids).size).toBe(wire.texts.length);
  });

  it('is sent again from its beginning, without a second call, when the request is repeated after the end', async () => {
    const first = await open('repeated');
    await first.over;

    const again = await open('repeated');

    expect(await durableWireOf(again)).toMatchObject({ text: TEXT, terminal: 'done' });
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(streamIdOf(again)).toBe(streamIdOf(first));
    expect(calls()).toBe(1);
  });

  it('joins readers that come while it runs, from after the last id that they have', async () => {
    const latch = halfAnswer();
    const first = await open('running');
    await first.block(1);
    const [id = ''] = readDurable(first.raw).ids;

    const others = await Promise.all([
      open('running'),
      resume(stage.origin, streamIdOf(first), { key }),
      resume(stage.origin, streamIdOf(first), { key, lastEventId: id }),
    ]);
    latch.open();

    const texts = await Promise.all(others.map(async (other) => (await durableWireOf(other)).text));
    expect(texts).toEqual([TEXT, TEXT, TEXT.slice(WORDS.slice(0, 3).join('').length)]);
    expect(await durableWireOf(first)).toMatchObject({ text: TEXT, terminal: 'done' });
    expect(calls()).toBe(1);
  });

  it('goes on when its client leaves, and the client can come again', async () => {
    const latch = halfAnswer();
    const first = await open('left');
    await first.block(1);
    first.leave();
    await first.over;
    latch.open();

    const { ids, text } = readDurable(first.raw);
    const rest = await open('left', { headers: { 'last-event-id': ids.at(-1) ?? '' } });

    expect(text + (await durableWireOf(rest)).text).toBe(TEXT);
    expect(calls()).toBe(1);
  });

  it('can be read at every position', async () => {
    const first = await open('positions');
    const { ids, texts } = await durableWireOf(first);

    for (const [index, lastEventId] of ids.entries()) {
      const rest = await durableWireOf(await resume(stage.origin, streamIdOf(first), { key, lastEventId }));
      expect(rest).toMatchObject({ text: texts.slice(index + 1).join(''), terminal: 'done' });
    }
  });

  it('keeps the key for one body, whatever the order of its members', async () => {
    const messages = [{ role: 'user', content: 'One' }];
    await (
      await open('bodies', { body: { messages, max_tokens: 5, temperature: 1 } })
    ).over;

    const other = await open('bodies', { body: { messages: [{ role: 'user', content: 'Two' }] } });
    const same = await open('bodies', {
      body: JSON.stringify({
        temperature: 1,
        max_tokens: 5,
        messages: [{ content: 'One', role: 'user' }],
        model: 'acme/fast',
      }),
    });

    expect(other.status).toBe(409);
    expect((await other.error()).code).toBe('idempotency_conflict');
    expect(same.headers['idempotency-replayed']).toBe('true');
    expect(calls()).toBe(1);
  });

  it('belongs to its account, whichever key of the account requests it', async () => {
    const mine = await stage.service.createKey({ email: 'mine@example.com' });
    const also = await stage.service.createKey({ email: 'mine@example.com' });
    const first = await open('shared', { key: mine.key });
    await first.over;

    const [ofOther, byOtherKey, foreign] = await Promise.all([
      open('shared'),
      open('shared', { key: also.key }),
      resume(stage.origin, streamIdOf(first), { key }),
    ]);

    expect(ofOther.headers['idempotency-replayed']).toBeUndefined();
    expect(byOtherKey.headers['idempotency-replayed']).toBe('true');
    expect([foreign.status, (await foreign.error()).code]).toEqual([404, 'not_found']);
    expect((await cancel(stage.origin, streamIdOf(first), { key })).status).toBe(404);
    await Promise.all([ofOther.over, byOtherKey.over]);
  });

  it.each(['', ' ', 'two words', 'é', 'x'.repeat(256), 'tab\there'])('refuses the key %j', async (name) => {
    const answer = await open(Buffer.from(name).toString('latin1'));

    expect(answer.status).toBe(400);
    expect(await answer.error()).toMatchObject({ code: 'invalid_request', details: [{ field: 'Idempotency-Key' }] });
    expect(calls()).toBe(0);
  });

  it('accepts the longest key', async () => {
    expect(await durableWireOf(await open('~'.repeat(255)))).toMatchObject({ text: TEXT });
  });

  it('refuses positions that are not of this stream, and unknown ids', async () => {
    const first = await open('tags');
    const other = await durableWireOf(await open('other-tags'));
    await first.over;

    for (const lastEventId of ['57', 'nonsense', other.ids[0]]) {
      const answer = await resume(stage.origin, streamIdOf(first), { key, lastEventId });
      expect(answer.status).toBe(400);
      expect(await answer.error()).toMatchObject({ details: [{ field: 'Last-Event-ID' }] });
    }
    const id = streamIdOf(first);
    const changed = id.slice(0, -1) + (id.endsWith('A') ? 'B' : 'A');
    for (const unknown of ['x', 'A'.repeat(64), changed]) {
      expect((await resume(stage.origin, unknown, { key })).status).toBe(404);
    }
  });

  it('does not generate a new answer for a client that resumes an old one', async () => {
    const answer = await open('gone', { headers: { 'last-event-id': 'abcdefgh-5' } });

    expect([answer.status, (await answer.error()).code]).toEqual([404, 'not_found']);
    expect(calls()).toBe(0);
    expect((await open('gone')).status).toBe(200);
  });

  it('can be cancelled, which is replayed too', async () => {
    halfAnswer();
    const first = await open('cancelled');
    await first.block(1);

    const answer = await cancel(stage.origin, streamIdOf(first), { key });

    expect([answer.status, await answer.body()]).toEqual([204, '']);
    const half = { text: WORDS.slice(0, 3).join(''), terminal: 'cancelled' };
    expect(await durableWireOf(first)).toMatchObject(half);
    expect(await durableWireOf(await open('cancelled'))).toMatchObject(half);
    const call = await stage.provider.call(1);
    await waitFor(() => call.abortedAt, 'the provider to be stopped');
    expect((await cancel(stage.origin, streamIdOf(first), { key })).status).toBe(204);
  });

  it('has at most four readers at a time', async () => {
    halfAnswer();
    const first = await open('popular');
    await first.block(1);
    const others = await Promise.all([1, 2, 3].map(() => open('popular')));

    const [byKey, byId] = await Promise.all([open('popular'), resume(stage.origin, streamIdOf(first), { key })]);

    expect([byKey.status, byId.status]).toEqual([429, 429]);
    expect((await byKey.error()).code).toBe('concurrency_limit_exceeded');
    others[0]?.leave();
    await others[0]?.over;
    const next = await waitFor(async () => {
      const answer = await open('popular');
      return answer.status === 200 && answer;
    }, 'a slot for a reader');
    for (const reader of [first, next, ...others]) reader.leave();
  });

  it('is generated without a reader for a while, and then stopped', async () => {
    halfAnswer();
    const first = await open('alone');
    await first.block(1);
    first.leave();

    const call = await stage.provider.call(1);
    await waitFor(() => call.abortedAt, 'the provider to be stopped');

    const half = { text: WORDS.slice(0, 3).join(''), terminal: 'cancelled' };
    expect(await durableWireOf(await open('alone'))).toMatchObject(half);
  });

  it('is over some time after its end: then the key is free', async () => {
    const short = await setStage(1, { env: { STREAM_RETENTION_SECONDS: '1' }, pace: 10 });
    const openShort = () => openStream(short.origin, { key: short.key, headers: { 'idempotency-key': 'short' } });
    const first = await openShort();
    await first.over;

    const next = await waitFor(async () => {
      const answer = await openShort();
      await answer.over;
      return answer.headers['idempotency-replayed'] === undefined && answer;
    }, 'the key to be free');

    expect(streamIdOf(next)).not.toBe(streamIdOf(first));
    expect((await resume(short.origin, streamIdOf(first), { key: short.key })).status).toBe(404);
    expect(short.provider.calls).toHaveLength(2);
    await short.clear();
  });

  it('frees its key when it fails before the first text, and reports the failure to the requests that wait', async () => {
    const latch = new Latch();
    stage.provider.answers(async (call) => {
      await latch.opened;
      call.refuse(400);
    });
    const both = [startStream, startStream].map((start) =>
      start(stage.origin, { key, headers: { 'idempotency-key': 'refused' } }),
    );
    await stage.provider.call(1);
    latch.open();

    const answers = await Promise.all(both.map(({ answer }) => answer));

    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    for (const answer of answers) expect((await answer.error()).code).toBe('upstream_rejected');
    expect(calls()).toBe(1);
    stage.provider.answers(answering(...WORDS));
    expect(await durableWireOf(await open('refused'))).toMatchObject({ text: TEXT });
  });

  it('replays a failure after the first text as it failed', async () => {
    stage.provider.answers((call) => {
      call.head().text('So far').failure('server_error');
    });
    const failed = { text: 'So far', terminal: 'upstream_error' };

    expect(await durableWireOf(await open('failed'))).toMatchObject(failed);
    expect(await durableWireOf(await open('failed'))).toMatchObject(failed);
    expect(calls()).toBe(1);
  });

  it('counts once for the limits of the tier and the ledger, and repetitions show the limits', async () => {
    const { key: counted } = await stage.service.createKey({ tier: 'counted' });
    const answers: ReceivedStream[] = [];
    for (let turn = 0; turn < 8; turn++) {
      const answer = await open('counted', { key: counted });
      await answer.over;
      answers.push(answer);
    }

    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(Array(8).fill('3'));
  });

  it('shows the limits with every answer, also with a refusal that is not counted', async () => {
    const { key: counted } = await stage.service.createKey({ tier: 'counted' });
    const first = await open('shown', { key: counted });
    await first.over;

    const id = streamIdOf(first);
    const refused = [
      await open('shown', { key: counted, body: { max_tokens: 3 } }),
      await open('not valid', { key: counted }),
      await resume(stage.origin, id, { key: counted, lastEventId: 'x' }),
      await resume(stage.origin, 'x', { key: counted }),
      await cancel(stage.origin, id, { key: counted }),
    ];

    expect(refused.map(({ status }) => status)).toEqual([409, 400, 400, 404, 204]);
    for (const { headers } of refused) expect(headers['x-ratelimit-remaining']).toBe('3');
  });

  it('holds its slot of the concurrent streams while it is generated, not while it is read', async () => {
    const { key: counted } = await stage.service.createKey({ tier: 'counted' });
    const latch = halfAnswer();
    const first = await open('slot', { key: counted });
    await first.block(1);
    first.leave();
    await first.over;

    const refused = await stream(stage.origin, { key: counted });
    expect((await refused.error()).code).toBe('concurrency_limit_exceeded');

    latch.open();
    await (
      await open('slot', { key: counted })
    ).over;
    expect(await wireOf(await stream(stage.origin, { key: counted }))).toMatchObject({ text: TEXT });
  });

  it('makes one call of many simultaneous repetitions', async () => {
    const name = randomUUID();
    const answers = await Promise.all(Array.from({ length: 50 }, () => open(name)));
    const wires = await Promise.all(answers.filter(({ status }) => status === 200).map(durableWireOf));

    expect(calls()).toBe(1);
    expect(wires.length).toBeGreaterThanOrEqual(1);
    for (const wire of wires) expect(wire).toMatchObject({ text: TEXT, terminal: 'done' });
    expect(answers.filter(({ status }) => status !== 200).every(({ status }) => status === 429)).toBe(true);
  });

  it('has one record in the ledger, which says that the stream was detached', async () => {
    const { key: owned, id } = await stage.service.createKey({ email: 'ledger@example.com' });
    for (let turn = 0; turn < 3; turn++) await (await open('ledger', { key: owned })).over;
    await (
      await stream(stage.origin, { key: owned })
    ).over;

    const rows = await waitFor(async () => {
      const found = await stage.service.app
        .get(DataSource)
        .query<object[]>('SELECT outcome, detached FROM usage_records WHERE key_id = ? ORDER BY detached', [id]);
      return found.length === 2 && found;
    }, 'the records');
    expect(rows).toEqual([
      { outcome: 'completed', detached: 0 },
      { outcome: 'completed', detached: 1 },
    ]);
  });

  it('shows in the metrics what runs, what is kept and what is replayed', async () => {
    const latch = halfAnswer();
    const before = await scrape(stage.service);
    const first = await open('metrics');
    await first.block(1);
    const again = await open('metrics');
    const running = await scrape(stage.service);
    expect(valueOf(running, 'chat_durable_streams', { state: 'running' })).toBe(1);
    expect(valueOf(running, 'chat_durable_stream_bytes')).toBeGreaterThan(0);
    latch.open();
    await Promise.all([first.over, again.over]);

    const after = await scrape(stage.service);
    expect(valueOf(after, 'chat_durable_streams', { state: 'running' })).toBe(0);
    expect(valueOf(after, 'chat_durable_streams', { state: 'kept' })).toBeGreaterThan(0);
    expect(valueOf(after, 'chat_durable_replays_total') - valueOf(before, 'chat_durable_replays_total')).toBe(1);
  });

  it('does not change streams without the header', async () => {
    const answer = await stream(stage.origin, { key, headers: { 'last-event-id': 'x' } });

    // `wireOf` allows no ids.
    expect(await wireOf(answer)).toMatchObject({ text: TEXT, terminal: 'done' });
    expect(answer.headers['x-stream-id']).toBeUndefined();
  });
});
