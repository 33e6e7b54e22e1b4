import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Latch } from '../../support/latch.js';
import { answering, endingAfter, refusing } from '../../support/scripts.js';
import { openStream, stream, type ReceivedStream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { wireOf } from '../../support/wire.js';

const TIERS = {
  free: { requests_per_minute: 5 },
  pro: { requests_per_minute: 30 },
  narrow: { concurrent_streams: 2 },
  one: { requests_per_minute: 20, concurrent_streams: 1 },
  unlimited: {},
};

describe('the limits of a tier', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await setStage(1, { tiers: TIERS });
  });
  beforeEach(() => {
    stage.provider.answers(answering('Hi'));
  });
  afterAll(() => stage.clear());

  const keyOf = async (tier: string, email?: string) =>
    (await stage.service.createKey({ tier, ...(email !== undefined && { email }) })).key;
  const burst = (count: number, ...keys: string[]) =>
    Promise.all(Array.from({ length: count }, (_, index) => stream(stage.origin, { key: keys[index % keys.length] })));
  const statuses = (answers: readonly ReceivedStream[], status: number) =>
    answers.filter((answer) => answer.status === status);

  async function expectLimitHeaders({ headers }: ReceivedStream, limit: number, remaining?: number): Promise<void> {
    expect(headers['x-ratelimit-limit']).toBe(String(limit));
    if (remaining !== undefined) expect(headers['x-ratelimit-remaining']).toBe(String(remaining));
    expect(Number(headers['x-ratelimit-reset'])).toBeGreaterThan(0);
    expect(Number(headers['x-ratelimit-reset'])).toBeLessThanOrEqual(60);
    await Promise.resolve();
  }

  it('let through exactly as many requests of a burst as they allow', async () => {
    const [free, pro] = [await keyOf('free'), await keyOf('pro')];

    const [ofFree, ofPro] = await Promise.all([burst(40, free), burst(40, pro)]);

    expect(statuses(ofFree, 200)).toHaveLength(5);
    expect(statuses(ofFree, 429)).toHaveLength(35);
    expect(statuses(ofPro, 200)).toHaveLength(30);
    expect(statuses(ofPro, 429)).toHaveLength(10);
  });

  it('say in every answer what is left, and in a refusal when to come again', async () => {
    const key = await keyOf('free');
    for (const left of [4, 3, 2, 1, 0]) await expectLimitHeaders(await stream(stage.origin, { key }), 5, left);

    const refused = await stream(stage.origin, { key });

    expect((await refused.error()).code).toBe('rate_limit_exceeded');
    await expectLimitHeaders(refused, 5, 0);
    expect(refused.headers['retry-after']).toMatch(/^[1-9]\d?$/);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  });

  it('say so in the answers that are errors, too', async () => {
    const key = await keyOf('pro');
    await expectLimitHeaders(await stream(stage.origin, { key, body: '{' }), 30, 29);
    await expectLimitHeaders(await stream(stage.origin, { key, body: { model: 'acme/none' } }), 30, 28);
    stage.provider.next(refusing(500));
    await expectLimitHeaders(await stream(stage.origin, { key }), 30, 27);
  });

  it('hold for the account, whichever of its keys is used', async () => {
    const keys = [await keyOf('free', 'ada@example.com'), await keyOf('free', 'ada@example.com')];
    expect(statuses(await burst(12, ...keys), 200)).toHaveLength(5);
  });

  it('are those of the account, not of others', async () => {
    await burst(6, await keyOf('free'));
    await expectLimitHeaders(await stream(stage.origin, { key: await keyOf('free') }), 5, 4);
  });

  it('are none where the tier has none', async () => {
    const answers = await burst(60, await keyOf('unlimited'));
    expect(statuses(answers, 200)).toHaveLength(60);
    expect(answers[0]?.headers['x-ratelimit-limit']).toBeUndefined();
  });

  it('let run as many streams at once as they allow, and not one more', async () => {
    const key = await keyOf('narrow');
    const latch = new Latch();
    stage.provider.answers(endingAfter(latch, 'Hi'));

    const answers = await Promise.all(Array.from({ length: 10 }, () => openStream(stage.origin, { key })));

    expect(statuses(answers, 200)).toHaveLength(2);
    const [refused] = statuses(answers, 429);
    expect((await refused?.error())?.code).toBe('concurrency_limit_exceeded');
    expect(refused?.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    latch.open();
    await Promise.all(answers.map(({ over }) => over));
    expect((await stream(stage.origin, { key })).status).toBe(200);
  });

  it('do not count a request that was refused for its concurrency, and say what is left in it', async () => {
    const key = await keyOf('one');
    const latch = new Latch();
    stage.provider.next(endingAfter(latch, 'Hi'));
    const running = await openStream(stage.origin, { key });
    const refused = await burst(5, key);
    expect(statuses(refused, 429)).toHaveLength(5);
    latch.open();
    await running.over;

    await expectLimitHeaders(await stream(stage.origin, { key }), 20, 18);
    for (const answer of refused) await expectLimitHeaders(answer, 20, 19);
  });

  it('release a slot when its stream is over, however it ended', async () => {
    const key = await keyOf('one');
    const endings: (() => Promise<ReceivedStream>)[] = [
      () => stream(stage.origin, { key }),
      () => stream(stage.origin, { key, body: '{' }),
      () => stream(stage.origin, { key, body: { model: 'acme/none' } }),
      () => stream(stage.origin, { key, headers: { 'content-type': 'text/plain' } }),
      () => {
        stage.provider.next(refusing(500));
        return stream(stage.origin, { key });
      },
      () => {
        stage.provider.next((call) => call.head().text('Hi').cut());
        return stream(stage.origin, { key });
      },
    ];
    for (const end of endings) {
      expect((await end()).status).not.toBe(429);
      const next = await wireOf(await openStream(stage.origin, { key }));
      expect(next).toMatchObject({ text: 'Hi', terminal: 'done' });
    }
  });

  it('release a slot by the time the client has read the last chunk', async () => {
    const key = await keyOf('narrow');
    const holding = stage.provider;
    holding.answers(answering('Hi'));
    for (let round = 0; round < 30; round++) {
      const answers = await Promise.all([openStream(stage.origin, { key }), openStream(stage.origin, { key })]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const last = await Promise.all(answers.map((answer) => answer.block(2)));
      for (const { text } of last) expect(text).toContain('"done":true');
    }
  });
});
