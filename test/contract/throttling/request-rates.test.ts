import { randomUUID } from 'node:crypto';
import type { Request, Response } from 'express';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { RequestRates } from '../../../src/throttling/request-rates.js';
import { limitsOf } from '../../../src/throttling/account-limits.js';
import { testRedis } from '../../support/redis.js';
import { waitFor } from '../../support/wait-for.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { openExactly, openInProcess, openOnRedis, type OpenedStore } from './limit-stores.js';

const redis = await testRedis();

/** A request as the guard has it. */
class Counted {
  readonly headers: Record<string, number> = {};
  readonly context: { refusedBy?: string } = {};

  async by(rates: RequestRates, accountId: string, rate: 'reports' | 'pages' = 'reports'): Promise<unknown> {
    const request = { context: this.context };
    const response = { req: request, setHeader: (name: string, value: number) => (this.headers[name] = value) };
    return rates
      .count(rate, accountId, request as unknown as Request, response as unknown as Response)
      .catch((error: unknown) => error);
  }
}

const onRedis = redis === undefined ? [] : [redis];

describe.each<[string, number, () => Promise<OpenedStore>]>([
  ['in a process', 1, openInProcess],
  ...onRedis.map(({ url }): [string, number, () => Promise<OpenedStore>] => ['in Redis', 2, () => openExactly(url)]),
])('the rates counted %s', (_, replicas, open) => {
  const opened: OpenedStore[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((store) => store.close())));

  const openAll = async () => {
    for (let replica = 0; replica < replicas; replica++) opened.push(await open());
    return opened.map(({ store }) => new RequestRates(store));
  };

  it('admit exactly 60 of a burst, and say in each response what remains', async () => {
    const all = await openAll();
    const accountId = randomUUID();
    const requests = Array.from({ length: 80 }, () => new Counted());
    const errors = await Promise.all(
      requests.map((request, index) => request.by(all[index % replicas] as RequestRates, accountId)),
    );

    const refused = requests.filter((request, index) => errors[index] !== undefined);
    expect(refused).toHaveLength(20);
    for (const { context, headers } of refused) {
      expect([context.refusedBy, headers]).toEqual([
        'reports',
        { 'X-RateLimit-Limit': 60, 'X-RateLimit-Remaining': 0, 'X-RateLimit-Reset': expect.any(Number) as number },
      ]);
    }
    const [error] = errors.filter((found) => found !== undefined);
    expect(error).toMatchObject({ code: 'rate_limit_exceeded' });
    const { retryAfterSeconds = 0 } = error as { retryAfterSeconds?: number };
    expect(retryAfterSeconds).toBeGreaterThan(0);
    expect(retryAfterSeconds).toBeLessThanOrEqual(60);
  });

  it('are counted apart from each other, from the limits of the tier, and for each account', async () => {
    const [rates] = (await openAll()) as [RequestRates];
    const accountId = randomUUID();
    const first = new Counted();
    expect(await first.by(rates, accountId)).toBeUndefined();
    const [pages, other] = [new Counted(), new Counted()];
    await pages.by(rates, accountId, 'pages');
    await other.by(rates, randomUUID());

    expect([pages, other].map(({ headers }) => headers['X-RateLimit-Remaining'])).toEqual([119, 59]);
    const state = await opened[0]?.store.peek(accountId, limitsOf({ requestsPerMinute: 5 }));
    expect(state?.requestsPerMinute?.remaining).toBe(5);
  });
});

describe.each(onRedis)('the rates while Redis is unavailable', ({ port, database, drop }) => {
  afterAll(() => drop());

  it('are counted by each replica for its share, and hold', async () => {
    const proxy = await TcpProxy.start(port);
    const opened = await openOnRedis(`redis://127.0.0.1:${proxy.port}/${database}`);
    try {
      await waitFor(() => opened.isExact(), 'Redis to answer');
      await waitFor(() => opened.fallback.replicas === 1, 'the replica to be counted');
      proxy.cut();
      await waitFor(() => opened.isRedisUnavailable(), 'Redis to be unavailable');
      const [rates, accountId] = [new RequestRates(opened.store), randomUUID()];
      opened.fallback.replicas = 3;

      const errors = await Promise.all(Array.from({ length: 25 }, () => new Counted().by(rates, accountId)));

      expect(errors.filter((error) => error === undefined)).toHaveLength(20);
    } finally {
      proxy.restore();
      await opened.close();
      await proxy.stop();
    }
  });
});
