import { routesTo, type Catalog, type Timeouts } from './catalog.js';
import type { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';

/**
 * The timeouts of each kind. A busy machine answers late. Short timeouts are therefore only for tests that expect a
 * timeout, and only for the wait that times out. With `medium`, a test can send signs of life for longer than the
 * timeout.
 */
const TIMEOUTS = {
  long: { first_token_ms: 60_000, idle_ms: 60_000 },
  medium: { first_token_ms: 2000, idle_ms: 2000 },
  short: { first_token_ms: 150, idle_ms: 150 },
  shortAfterText: { first_token_ms: 60_000, idle_ms: 150 },
} as const satisfies Record<string, Timeouts>;

export type TimeoutKind = keyof typeof TIMEOUTS;

/**
 * Models that use the same providers, each through its own upstreams. Each test takes its own model, so that a failure in one
 * test does not affect another test. After several failures in a row, the service skips an upstream or counts it as dead.
 */
export class SeparateModels implements Catalog {
  readonly upstreams: Readonly<Record<string, object>>;
  readonly models: readonly object[];
  private readonly taken: Partial<Record<TimeoutKind, number>> = {};

  /** @param count the number of models for each kind. */
  constructor(
    providers: readonly ScriptedProvider[],
    private readonly count = 60,
  ) {
    const catalogs = (Object.keys(TIMEOUTS) as TimeoutKind[]).flatMap((kind) =>
      Array.from({ length: count }, (_, index) => renamed(catalogOf(providers, kind), `${kind}-${index}`)),
    );
    this.upstreams = Object.assign({}, ...catalogs.map(({ upstreams }) => upstreams)) as Record<string, object>;
    this.models = catalogs.flatMap(({ models }) => models);
  }

  /**
   * The id of a model that no test has used yet.
   *
   * @throws {Error} if no unused model is left.
   */
  next(kind: TimeoutKind = 'long'): string {
    const index = this.taken[kind] ?? 0;
    this.taken[kind] = index + 1;
    if (index >= this.count) throw new Error('There are too few models.');
    return `acme/${kind}-${index}`;
  }
}

/** Gives only the first provider the timeouts of the kind. The other providers must answer, so they have long timeouts. */
function catalogOf(providers: readonly ScriptedProvider[], kind: TimeoutKind): Catalog {
  const { upstreams, models } = routesTo(providers, TIMEOUTS.long);
  const [first = ''] = Object.keys(upstreams);
  return { upstreams: { ...upstreams, [first]: { ...upstreams[first], timeouts: TIMEOUTS[kind] } }, models };
}

function renamed({ upstreams, models }: Catalog, suffix: string): Catalog {
  return {
    upstreams: Object.fromEntries(Object.entries(upstreams).map(([name, upstream]) => [`${name}-${suffix}`, upstream])),
    models: (models as { routes: { upstream: string }[] }[]).map((model) => ({
      ...model,
      id: `acme/${suffix}`,
      routes: model.routes.map((route) => ({ ...route, upstream: `${route.upstream}-${suffix}` })),
    })),
  };
}
