import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { get, openStream } from '../support/sse-client.js';
import { Replicas } from './support/replicas.js';
import { sharedStores } from './support/stores.js';

const stores = await sharedStores();

const REQUESTS = 200;
const BUDGET = 1;
const USAGE = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 20 } })}\n\n`;

if (stores !== undefined) {
  describe('a budget on three replicas', () => {
    let replicas: Replicas;

    beforeAll(async () => {
      replicas = await Replicas.start(stores, {
        tiers: {
          company: {
            budget: { amount: BUDGET, per: 'month' },
            max_tokens: 20,
            concurrent_streams: 1000,
            tokens_per_day: 1_000_000,
          },
        },
        price: { input_per_million: 200, output_per_million: 400 },
      });
      replicas.provider.answers((call) => {
        call.head().text('Hi').finish().write(USAGE).endMarker().end();
      });
    }, 180_000);
    afterAll(async () => {
      await replicas.stop();
      await stores.redis.drop();
    }, 60_000);

    const budgetOf = async (key: string, origin = replicas.origins[0] ?? '') => {
      const answer = await get(origin, '/api/v1/usage', { Authorization: `Bearer ${key}` });
      return (JSON.parse(await answer.body()) as { budget: { spent: number; reserved: number } }).budget;
    };

    it('is never exceeded when 200 requests come at once while Redis stops and starts again empty', async () => {
      const { key } = await replicas.createKey('company');
      const outcomes: number[] = [];
      const sendAll = () =>
        Promise.all(
          Array.from({ length: REQUESTS }, async (_, n) => {
            const answer = await openStream(replicas.origins[n % 3] ?? '', { key });
            await answer.over;
            outcomes.push(answer.status);
          }),
        );
      const sent = sendAll();
      await expect.poll(() => outcomes.length).toBeGreaterThan(10);
      replicas.redis.cut();
      await sent;
      await stores.redis.client.flushDb();
      replicas.redis.restore();
      await sendAll();

      await expect.poll(async () => (await budgetOf(key)).reserved).toBe(0);
      const { spent } = await budgetOf(key);
      const admitted = outcomes.filter((status) => status === 200).length;
      expect(spent).toBeCloseTo(0.01 * admitted, 6);
      expect(spent).toBeLessThanOrEqual(BUDGET);
      expect(spent).toBeGreaterThan(BUDGET * 0.7);
      expect(outcomes).toContain(429);
      for (const origin of replicas.origins) expect((await budgetOf(key, origin)).spent).toBe(spent);
    }, 120_000);
  });
}
