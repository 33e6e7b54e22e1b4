import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Catalog, Timeouts } from '../../support/catalog.js';
import { scrape, valueOf } from '../../support/metrics.js';
import type { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { answering, refusing } from '../../support/scripts.js';
import { closedPort } from '../../support/silent-server.js';
import { openStream, startStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
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

const CLOSED_PORT = await closedPort();

describe('the routes of a model', () => {
  let stage: Stage;
  /** The upstreams and models of each test. Each test has its own, whose routes cool down for no other test. */
  const catalogs: ((providers: readonly ScriptedProvider[]) => Catalog)[] = [];

  beforeAll(async () => {
    stage = await setStage(3, {
      catalog: (providers) => {
        const all = catalogs.map((of) => of(providers));
        return {
          upstreams: Object.assign({}, ...all.map(({ upstreams }) => upstreams)) as Catalog['upstreams'],
          models: all.flatMap(({ models }) => models),
        };
      },
      env: { METRICS_PORT: '0' },
    });
  });
  beforeEach(() => {
    for (const provider of stage.providers) {
      provider.calls.length = 0;
      provider.answers(answering('Hi'));
    }
  });
  afterEach(() => {
    vi.restoreAllMocks();
    movedBeforeMs = movedMs;
    moveClock(0);
  });
  afterAll(async () => {
    await stage.clear();
    vi.restoreAllMocks();
  });

  /** Two models of one upstream. Returns their names. */
  const twoModels = (timeouts: Timeouts = {}, port?: number): readonly [string, string] => {
    const upstream = `acme-${catalogs.length}`;
    const names = [`${upstream}-a`, `${upstream}-b`] as const;
    catalogs.push(([provider]) => ({
      upstreams: {
        [upstream]: {
          ...{ protocol: 'openai', api_key: 'k', timeouts },
          base_url: port === undefined ? provider?.origin : `http://127.0.0.1:${port}`,
        },
      },
      models: names.map((name) => modelOf(name, [{ upstream }])),
    }));
    return names;
  };
  /** A model with a route to each of the first providers. Returns its name, from which the upstreams have theirs. */
  const manyRoutes = (routes: readonly Omit<RouteMembers, 'upstream'>[], members: object = {}): string => {
    const name = `model-${catalogs.length}`;
    const all = routes.map((route, index) => ({ upstream: `${name}-${index}`, ...route }));
    catalogs.push((providers) => ({
      upstreams: Object.fromEntries(
        all.map(({ upstream }, index) => [upstream, { protocol: 'openai', base_url: providers[index]?.origin }]),
      ),
      models: [{ ...modelOf(name, all), ...members }],
    }));
    return name;
  };
  const ask = (name: string) => stream(stage.origin, { key: stage.key, body: { model: `acme/${name}` } });
  const callsOf = () => stage.providers.map(({ calls }) => calls.length);

  /** Expects an answer at once, without a call to the provider. */
  async function expectUnavailable(name: string, atMostSeconds: number, moreThanSeconds = 0): Promise<void> {
    const before = callsOf();
    const answer = await ask(name);
    expect(answer.status).toBe(503);
    expect((await answer.error()).code).toBe('upstream_unavailable');
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(atMostSeconds);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(moreThanSeconds);
    expect(callsOf()).toEqual(before);
  }

  describe('of one upstream', () => {
    const hanging = twoModels({ first_token_ms: 1_000 });
    it('answers for one model while another model hangs', async () => {
      stage.provider.answers((call) => {
        if (call.json['model'] === hanging[1]) call.answer('Here I am');
      });
      const hung = await Promise.all(Array.from({ length: FAILURES_TO_OPEN }, () => ask(hanging[0])));
      expect(hung.map(({ status }) => status)).toEqual(hung.map(() => 504));
      await expectUnavailable(hanging[0], 13);

      const answer = await openStream(stage.origin, { key: stage.key, body: { model: `acme/${hanging[1]}` } });
      expect(await wireOf(answer)).toMatchObject({ text: 'Here I am', terminal: 'done' });
    });

    const unreachable = twoModels({}, CLOSED_PORT);
    it('are all unavailable when the upstream refuses connections', async () => {
      stopClock();
      for (let count = 0; count < FAILURES_TO_OPEN; count++) expect((await ask(unreachable[0])).status).toBe(502);
      await expectUnavailable(unreachable[1], 3);
    });

    const unauthorized = twoModels();
    it('are all unavailable when the upstream refuses the key', async () => {
      stage.provider.answers(refusing(401));
      stopClock();
      for (let count = 0; count < FAILURES_TO_OPEN; count++) expect((await ask(unauthorized[0])).status).toBe(502);
      await expectUnavailable(unauthorized[1], 3);
    });

    const withoutQuota = twoModels();
    it('all cool down when the upstream limits the key', async () => {
      stage.provider.next(refusing(429, { 'retry-after': '60' }, QUOTA));
      expect((await ask(withoutQuota[0])).headers['retry-after']).toBe('60');
      await expectUnavailable(withoutQuota[0], 60, 50);
      await expectUnavailable(withoutQuota[1], 60, 50);
    });

    const limited = twoModels();
    it('continue when the upstream limits one model', async () => {
      stage.provider.next(refusing(429, { 'retry-after': '60' }, RATE_LIMIT));
      await ask(limited[0]);
      await expectUnavailable(limited[0], 60, 50);
      expect((await ask(limited[1])).status).toBe(200);
    });
  });

  describe('with a provider that demands a cooldown', () => {
    it.each([429, 503, 529].map((status) => [status, manyRoutes([{}, {}])] as const))(
      'cool down exactly so long after status %d, while the next route answers',
      async (status, model) => {
        stage.provider.next(refusing(status, { 'retry-after': '60' }));
        expect((await ask(model)).status).toBe(200);
        expect(callsOf()).toEqual([1, 1, 0]);

        moveClock(55_000);
        expect((await ask(model)).status).toBe(200);
        expect(callsOf()).toEqual([1, 2, 0]);

        moveClock(60_001);
        expect((await ask(model)).status).toBe(200);
        expect(callsOf()).toEqual([2, 2, 0]);
      },
    );

    const tried = manyRoutes([{}]);
    it('return the remaining time when there is no other route, and are tried again afterwards', async () => {
      stage.provider.next(refusing(429, { 'retry-after': '60' }));
      await ask(tried);
      await expectUnavailable(tried, 60, 50);
      moveClock(40_000);
      await expectUnavailable(tried, 20, 10);
      moveClock(60_001);
      expect((await ask(tried)).status).toBe(200);
    });

    const patient = manyRoutes([{}]);
    it('cool down for five minutes at most', async () => {
      stage.provider.next(refusing(503, { 'retry-after': '3600' }));
      await ask(patient);
      await expectUnavailable(patient, 300, 290);
      moveClock(300_001);
      expect((await ask(patient)).status).toBe(200);
    });

    const limitedBriefly = manyRoutes([{}]);
    it('continue when the provider sends no time', async () => {
      stage.provider.next(...Array.from({ length: 2 * FAILURES_TO_OPEN }, () => refusing(429)));
      for (let count = 0; count < 2 * FAILURES_TO_OPEN; count++) expect((await ask(limitedBriefly)).status).toBe(503);
      expect((await ask(limitedBriefly)).status).toBe(200);
    });

    const observed = manyRoutes([{}]);
    it('show each change in the metrics and in one line of the log', async () => {
      const [warn, log] = [vi.spyOn(Logger.prototype, 'warn'), vi.spyOn(Logger.prototype, 'log')];
      const lines = (spy: typeof warn | typeof log, msg: string) =>
        spy.mock.calls.map(([entry]) => entry as { msg?: string }).filter((entry) => entry.msg === msg);
      const states = async () => {
        const series = await scrape(stage.service);
        return ['closed', 'open', 'half_open'].map((state) =>
          valueOf(series, 'chat_route_circuit_breaker_state', { upstream: `${observed}-0`, model: observed, state }),
        );
      };
      stage.provider.answers(refusing(429, { 'retry-after': '60' }));
      await Promise.all(Array.from({ length: 10 }, () => ask(observed)));
      await ask(observed);

      expect(await states()).toEqual([0, 1, 0]);
      expect(lines(warn, 'Circuit opened')).toEqual([
        { msg: 'Circuit opened', upstream: `${observed}-0`, model: observed, openMs: 60_000 },
      ]);
      expect(lines(log, 'Circuit closed')).toEqual([]);

      moveClock(LONG_MS);
      stage.provider.answers(answering('Hi'));
      await ask(observed);
      await ask(observed);
      expect(await states()).toEqual([1, 0, 0]);
      expect(lines(log, 'Circuit closed')).toEqual([
        { msg: 'Circuit closed', upstream: `${observed}-0`, model: observed },
      ]);
      expect(lines(warn, 'Circuit opened')).toHaveLength(1);
    });
  });

  const probed = manyRoutes([{}]);
  it('are probed by one request at a time after failures', async () => {
    stage.provider.answers(refusing(500));
    stopClock();
    for (let count = 0; count < FAILURES_TO_OPEN; count++) expect((await ask(probed)).status).toBe(502);
    await expectUnavailable(probed, 3);
    moveClock(LONG_MS);
    stage.provider.answers(() => undefined);
    const probe = startStream(stage.origin, { key: stage.key, body: { model: `acme/${probed}` } });
    const call = await stage.provider.call(FAILURES_TO_OPEN + 1);

    await expectUnavailable(probed, 1);

    call.answer('Hi');
    expect((await probe.answer).status).toBe(200);
    stage.provider.answers(answering('Hi'));
    expect((await ask(probed)).status).toBe(200);
  });

  const probedAgain = manyRoutes([{}, {}]);
  it('are probed again after a probe that failed, and after a client that left during the probe', async () => {
    stage.provider.answers(refusing(500));
    stopClock();
    for (let count = 0; count < FAILURES_TO_OPEN; count++) await ask(probedAgain);
    moveClock(LONG_MS);
    await ask(probedAgain);
    await ask(probedAgain);
    expect(stage.provider.calls).toHaveLength(FAILURES_TO_OPEN + 1);

    moveClock(2 * LONG_MS);
    stage.provider.answers(() => undefined);
    const probe = startStream(stage.origin, { key: stage.key, body: { model: `acme/${probedAgain}` } });
    const call = await stage.provider.call(FAILURES_TO_OPEN + 2);
    probe.leave();
    await call.over;
    stage.provider.answers(answering('I am back'));
    const answer = await openStream(stage.origin, { key: stage.key, body: { model: `acme/${probedAgain}` } });
    expect(await wireOf(answer)).toMatchObject({ text: 'I am back', terminal: 'done' });
  });

  const weighted = manyRoutes([{ priority: 1, weight: 3 }, { priority: 1 }]);
  it('share the requests by weight', async () => {
    const REQUESTS = 120;
    // One after the other: of two routes that are drawn, the one with less load for its weight is taken.
    for (let count = 0; count < REQUESTS; count++) await ask(weighted);
    const [first = 0, second = 0] = callsOf();
    expect(first + second).toBe(REQUESTS);
    // 90 expected. The standard deviation is below 5.
    expect(first).toBeGreaterThan(65);
    expect(first).toBeLessThan(115);
  });

  const ordered = manyRoutes([{ weight: 1 }, { weight: 1_000 }, {}]);
  it('are used in the order of the file without a priority', async () => {
    stage.provider.answers(refusing(500));
    for (let count = 0; count < 3; count++) await ask(ordered);
    expect(callsOf()).toEqual([3, 3, 0]);
  });

  const sticky = manyRoutes([{ priority: 1 }, { priority: 1 }], { sticky: true });
  it('of a sticky model serve an account at one provider, except while this route cools down', async () => {
    const REQUESTS = 20;
    const requestOften = async () => {
      for (const { calls } of stage.providers) calls.length = 0;
      for (let count = 0; count < REQUESTS; count++) expect((await ask(sticky)).status).toBe(200);
      return callsOf().slice(0, 2);
    };
    const before = await requestOften();
    expect(Math.max(...before)).toBe(REQUESTS);
    const own = stage.providers[before.indexOf(REQUESTS)] as ScriptedProvider;

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

const realNow = performance.now.bind(performance);
let movedMs = 0;
/** By how much the tests before have moved the clock. It never goes back, as the clock of a process does not. */
let movedBeforeMs = 0;

/** Moves the clock by this time since the beginning of the test. */
function moveClock(byMs: number): void {
  movedMs = movedBeforeMs + byMs;
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() + movedMs);
}

/** After fast failures, the circuit is open for a short time. This time does not end while the clock stands still. */
function stopClock(): void {
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
}
