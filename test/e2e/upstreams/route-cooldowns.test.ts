import { Logger } from '@nestjs/common';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Timeouts } from '../../support/catalog.js';
import { scrape, valueOf } from '../../support/metrics.js';
import type { ScriptedProvider, Script } from '../../../src/testing/provider/scripted-provider.js';
import { closedPort } from '../../support/silent-server.js';
import { openStream, startStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage, type StageOptions } from '../../support/stage.js';
import { wireOf } from '../../support/wire.js';

const FAILURES_TO_OPEN = 5;
const LONG_MS = 120_000;
const QUOTA = JSON.stringify({ error: { type: 'insufficient_quota', code: 'insufficient_quota' } });
const RATE_LIMIT = JSON.stringify({ error: { type: 'requests', code: 'rate_limit_exceeded' } });

interface RouteMembers {
  readonly upstream: string;
  readonly priority?: number;
  readonly weight?: number;
}

describe('the routes of a model', () => {
  let stage: Stage | undefined;

  afterEach(async () => {
    vi.restoreAllMocks();
    await stage?.clear();
    stage = undefined;
  });

  async function staged(count: number, options: StageOptions): Promise<Stage> {
    return (stage = await setStage(count, options));
  }

  /** The upstream `acme` has two models. */
  const twoModels = (timeouts: Timeouts = {}, port?: number): StageOptions => ({
    catalog: ([provider]) => ({
      upstreams: {
        acme: {
          ...{ protocol: 'openai', api_key: 'k', timeouts },
          base_url: port === undefined ? provider?.origin : `http://127.0.0.1:${port}`,
        },
      },
      models: ['a', 'b'].map((name) => modelOf(name, [{ upstream: 'acme' }])),
    }),
  });
  /** The model `a`, with a route to each provider: `provider-0` and so on. */
  const manyRoutes = (routes: readonly Omit<RouteMembers, 'upstream'>[], members: object = {}): StageOptions => ({
    catalog: (providers) => ({
      upstreams: Object.fromEntries(
        providers.map(({ origin }, index) => [`provider-${index}`, { protocol: 'openai', base_url: origin }]),
      ),
      models: [
        {
          ...modelOf(
            'a',
            routes.map((route, index) => ({ upstream: `provider-${index}`, ...route })),
          ),
          ...members,
        },
      ],
    }),
    env: { METRICS_PORT: '0' },
  });
  const ask = ({ origin, key }: Stage, name = 'a') => stream(origin, { key, body: { model: `acme/${name}` } });
  const callsOf = ({ providers }: Stage) => providers.map(({ calls }) => calls.length);
  const refusing =
    (status: number, headers: Record<string, string> = {}, body?: string): Script =>
    (call) => {
      call.refuse(status, headers, body);
    };

  /** Expects an answer at once, without a call to the provider. */
  async function expectUnavailable(on: Stage, name: string, atMostSeconds: number, moreThanSeconds = 0): Promise<void> {
    const before = callsOf(on);
    const answer = await ask(on, name);
    expect(answer.status).toBe(503);
    expect((await answer.error()).code).toBe('upstream_unavailable');
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(atMostSeconds);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(moreThanSeconds);
    expect(callsOf(on)).toEqual(before);
  }

  describe('of one upstream', () => {
    it('answers for one model while another model hangs', async () => {
      const on = await staged(1, twoModels({ first_token_ms: 1_000 }));
      on.provider.answers((call) => {
        if (call.json['model'] === 'b') call.answer('Here I am');
      });
      const hung = await Promise.all(Array.from({ length: FAILURES_TO_OPEN }, () => ask(on, 'a')));
      expect(hung.map(({ status }) => status)).toEqual(hung.map(() => 504));
      await expectUnavailable(on, 'a', 13);

      const answer = await openStream(on.origin, { key: on.key, body: { model: 'acme/b' } });
      expect(await wireOf(answer)).toMatchObject({ text: 'Here I am', terminal: 'done' });
    });

    it('are all unavailable when the upstream refuses connections', async () => {
      const on = await staged(1, twoModels({}, await closedPort()));
      stopClock();
      for (let count = 0; count < FAILURES_TO_OPEN; count++) expect((await ask(on, 'a')).status).toBe(502);
      await expectUnavailable(on, 'b', 3);
    });

    it('are all unavailable when the upstream refuses the key', async () => {
      const on = await staged(1, twoModels());
      on.provider.answers(refusing(401));
      stopClock();
      for (let count = 0; count < FAILURES_TO_OPEN; count++) expect((await ask(on, 'a')).status).toBe(502);
      await expectUnavailable(on, 'b', 3);
    });

    it('all cool down when the upstream limits the key', async () => {
      const on = await staged(1, twoModels());
      on.provider.next(refusing(429, { 'retry-after': '60' }, QUOTA));
      expect((await ask(on, 'a')).headers['retry-after']).toBe('60');
      await expectUnavailable(on, 'a', 60, 50);
      await expectUnavailable(on, 'b', 60, 50);
    });

    it('continue when the upstream limits one model', async () => {
      const on = await staged(1, twoModels());
      on.provider.next(refusing(429, { 'retry-after': '60' }, RATE_LIMIT));
      await ask(on, 'a');
      await expectUnavailable(on, 'a', 60, 50);
      expect((await ask(on, 'b')).status).toBe(200);
    });
  });

  describe('with a provider that demands a cooldown', () => {
    it.each([429, 503, 529])(
      'cool down exactly so long after status %d, while the next route answers',
      async (status) => {
        const on = await staged(2, manyRoutes([{}, {}]));
        on.provider.next(refusing(status, { 'retry-after': '60' }));
        expect((await ask(on)).status).toBe(200);
        expect(callsOf(on)).toEqual([1, 1]);

        moveClock(55_000);
        expect((await ask(on)).status).toBe(200);
        expect(callsOf(on)).toEqual([1, 2]);

        moveClock(60_001);
        expect((await ask(on)).status).toBe(200);
        expect(callsOf(on)).toEqual([2, 2]);
      },
    );

    it('return the remaining time when there is no other route, and are tried again afterwards', async () => {
      const on = await staged(1, manyRoutes([{}]));
      on.provider.next(refusing(429, { 'retry-after': '60' }));
      await ask(on);
      await expectUnavailable(on, 'a', 60, 50);
      moveClock(40_000);
      await expectUnavailable(on, 'a', 20, 10);
      moveClock(60_001);
      expect((await ask(on)).status).toBe(200);
    });

    it('cool down for five minutes at most', async () => {
      const on = await staged(1, manyRoutes([{}]));
      on.provider.next(refusing(503, { 'retry-after': '3600' }));
      await ask(on);
      await expectUnavailable(on, 'a', 300, 290);
      moveClock(300_001);
      expect((await ask(on)).status).toBe(200);
    });

    it('continue when the provider sends no time', async () => {
      const on = await staged(1, manyRoutes([{}]));
      on.provider.next(...Array.from({ length: 2 * FAILURES_TO_OPEN }, () => refusing(429)));
      for (let count = 0; count < 2 * FAILURES_TO_OPEN; count++) expect((await ask(on)).status).toBe(503);
      expect((await ask(on)).status).toBe(200);
    });

    it('show each change in the metrics and in one line of the log', async () => {
      const [warn, log] = [vi.spyOn(Logger.prototype, 'warn'), vi.spyOn(Logger.prototype, 'log')];
      const lines = (spy: typeof warn | typeof log, msg: string) =>
        spy.mock.calls.map(([entry]) => entry as { msg?: string }).filter((entry) => entry.msg === msg);
      const on = await staged(1, manyRoutes([{}]));
      const states = async () => {
        const series = await scrape(on.service);
        return ['closed', 'open', 'half_open'].map((state) =>
          valueOf(series, 'chat_route_circuit_breaker_state', { upstream: 'provider-0', model: 'a', state }),
        );
      };
      on.provider.answers(refusing(429, { 'retry-after': '60' }));
      await Promise.all(Array.from({ length: 10 }, () => ask(on)));
      await ask(on);

      expect(await states()).toEqual([0, 1, 0]);
      expect(lines(warn, 'Circuit opened')).toEqual([
        { msg: 'Circuit opened', upstream: 'provider-0', model: 'a', openMs: 60_000 },
      ]);
      expect(lines(log, 'Circuit closed')).toEqual([]);

      clockMovedBy(LONG_MS);
      on.provider.answers((call) => {
        call.answer('Hi');
      });
      await ask(on);
      await ask(on);
      expect(await states()).toEqual([1, 0, 0]);
      expect(lines(log, 'Circuit closed')).toEqual([{ msg: 'Circuit closed', upstream: 'provider-0', model: 'a' }]);
      expect(lines(warn, 'Circuit opened')).toHaveLength(1);
    });
  });

  it('are probed by one request at a time after failures', async () => {
    const on = await staged(1, manyRoutes([{}]));
    on.provider.answers(refusing(500));
    stopClock();
    for (let count = 0; count < FAILURES_TO_OPEN; count++) expect((await ask(on)).status).toBe(502);
    await expectUnavailable(on, 'a', 3);
    moveClock(LONG_MS);
    on.provider.answers(() => undefined);
    const probe = startStream(on.origin, { key: on.key, body: { model: 'acme/a' } });
    const call = await on.provider.call(FAILURES_TO_OPEN + 1);

    await expectUnavailable(on, 'a', 1);

    call.answer('Hi');
    expect((await probe.answer).status).toBe(200);
    on.provider.answers((next) => {
      next.answer('Hi');
    });
    expect((await ask(on)).status).toBe(200);
  });

  it('share the requests by weight', async () => {
    const REQUESTS = 120;
    const on = await staged(2, manyRoutes([{ priority: 1, weight: 3 }, { priority: 1 }]));
    // One after the other: of two routes that are drawn, the one with less load for its weight is taken.
    for (let count = 0; count < REQUESTS; count++) await ask(on);
    const [first = 0, second = 0] = callsOf(on);
    expect(first + second).toBe(REQUESTS);
    // 90 expected. The standard deviation is below 5.
    expect(first).toBeGreaterThan(65);
    expect(first).toBeLessThan(115);
  });

  it('are used in the order of the file without a priority', async () => {
    const on = await staged(3, manyRoutes([{ weight: 1 }, { weight: 1_000 }, {}]));
    on.provider.answers(refusing(500));
    for (let count = 0; count < 3; count++) await ask(on);
    expect(callsOf(on)).toEqual([3, 3, 0]);
  });

  it('of a sticky model serve an account at one provider, except while this route cools down', async () => {
    const REQUESTS = 20;
    const on = await staged(2, manyRoutes([{ priority: 1 }, { priority: 1 }], { sticky: true }));
    const requestOften = async () => {
      for (const { calls } of on.providers) calls.length = 0;
      for (let count = 0; count < REQUESTS; count++) expect((await ask(on)).status).toBe(200);
      return callsOf(on);
    };
    const before = await requestOften();
    expect(Math.max(...before)).toBe(REQUESTS);
    const own = on.providers[before.indexOf(REQUESTS)] as ScriptedProvider;

    own.next(refusing(429, { 'retry-after': '60' }));
    expect(await requestOften()).toEqual(before.map((count) => (count === 0 ? REQUESTS : 1)));

    moveClock(60_001);
    expect(await requestOften()).toEqual(before);
  });
});

function modelOf(name: string, routes: readonly RouteMembers[]): object {
  return {
    ...{ id: `acme/${name}`, name, provider: 'Acme', context_length: 8192 },
    routes: routes.map((route) => ({ ...route, model: name })),
  };
}

/** By the clock that nobody sets. */
function moveClock(byMs: number): void {
  vi.restoreAllMocks();
  clockMovedBy(byMs);
}

function clockMovedBy(byMs: number): void {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + byMs);
}

/** After fast failures, the circuit is open for a short time. This time does not end while the clock stands still. */
function stopClock(): void {
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
}
