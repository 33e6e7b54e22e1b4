import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Latch } from '../support/latch.js';
import { stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { burst } from './support/burst.js';
import { Replicas } from './support/replicas.js';
import { sharedStores } from './support/stores.js';

const stores = await sharedStores();

/** Estimated at 25 tokens. */
const MESSAGES = [{ role: 'user', content: 'word '.repeat(25) }];
const COST = 100;

const tiers = {
  requests: { requests_per_minute: 20 },
  streams: { concurrent_streams: 7 },
  tokens: { tokens_per_day: 11 * COST },
  both: { requests_per_minute: 12, concurrent_streams: 4, tokens_per_day: 100 * COST },
};

describe.skipIf(stores === undefined)('bursts at three replicas on PostgreSQL and Redis', () => {
  let replicas: Replicas;
  let finish: Latch;

  beforeAll(async () => {
    replicas = await Replicas.start(stores as NonNullable<typeof stores>, { tiers });
    finish = new Latch();
    replicas.provider.answers(async (call) => {
      call.head().text('Hel');
      await finish.opened;
      call.text('lo').finish().endMarker().end();
    });
  }, 180_000);
  afterEach(() => {
    finish.open();
    finish = new Latch();
    replicas.provider.calls.length = 0;
  });
  afterAll(async () => {
    await replicas.stop();
    await stores?.redis.drop();
  }, 60_000);

  it('admit as many requests a minute as the tier allows, neither more nor fewer', async () => {
    const { key } = await replicas.createKey('requests');

    const sent = await burst(replicas.origins, 30, { key });

    expect(sent.admitted).toHaveLength(20);
    expect(await sent.codes()).toEqual(['rate_limit_exceeded']);
    expect(replicas.provider.calls).toHaveLength(20);
    sent.leave();
  });

  it('admit 60 reports a minute beside the requests of the tier', async () => {
    const { key } = await replicas.createKey('requests');
    const path = '/api/v1/usage/streams/unknown';
    const statuses: number[] = [];
    for (let round = 0; round < 8; round++) {
      const { answers } = await burst(replicas.origins, 3, { key, method: 'GET', path });
      statuses.push(...answers.map(({ status }) => status));
    }

    expect(statuses.filter((status) => status === 404)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(12);
    const sent = await burst(replicas.origins, 1, { key });
    expect(sent.admitted).toHaveLength(3);
    sent.leave();
  });

  it('admit as many streams at once, and as many again when they are over', async () => {
    const { key, accountId } = await replicas.createKey('streams');
    for (let round = 1; round <= 3; round++) {
      const sent = await burst(replicas.origins, 15, { key });

      expect(sent.admitted).toHaveLength(7);
      expect(await sent.codes()).toEqual(['concurrency_limit_exceeded']);
      expect(replicas.provider.calls).toHaveLength(7 * round);

      finish.open();
      await Promise.all(sent.admitted.map(({ over }) => over));
      finish = new Latch();
      await waitFor(
        async () => (await stores?.redis.client.zCard(`chat:{${accountId}}:streams`)) === 0,
        'the places to be free',
      );
    }
  });

  it('admit as many tokens a day', async () => {
    const { key } = await replicas.createKey('tokens');
    const body = { messages: MESSAGES, max_tokens: COST - 56 };

    const sent = await burst(replicas.origins, 15, { key, body });

    expect(sent.admitted).toHaveLength(11);
    expect(await sent.codes()).toEqual(['quota_exceeded']);
    for (const { headers } of sent.refused) expect(headers['x-ratelimit-remaining-tokens']).toBe('0');
    sent.leave();
  });

  it('use up nothing of one limit where another refuses', async () => {
    const { key } = await replicas.createKey('both');
    const body = { messages: MESSAGES, max_tokens: COST - 56 };

    const held = await burst(replicas.origins, 20, { key, body });

    expect(held.admitted).toHaveLength(4);
    expect(await held.codes()).toEqual(['concurrency_limit_exceeded']);
    // Of 60 requests the 56 refused cost neither a request of the minute nor a token of the day.
    for (const { headers } of held.refused) {
      expect(headers['x-ratelimit-remaining']).toBe('8');
      expect(headers['x-ratelimit-remaining-tokens']).toBe(String(96 * COST));
    }
    finish.open();
    await Promise.all(held.admitted.map(({ over }) => over));
    const left: number[] = [];
    for (let request = 0; request < 12; request++) {
      const origin = replicas.origins[request % 3] ?? '';
      left.push((await stream(origin, { key, body: { max_tokens: 1 } })).status);
    }
    expect(left.filter((status) => status === 200)).toHaveLength(8);
  });
});
