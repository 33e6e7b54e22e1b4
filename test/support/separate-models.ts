import { routesTo, type Catalog, type Timeouts } from './catalog.js';
import type { ScriptedVendor } from './scripted-vendor.js';

/**
 * Only tests that expect a timeout have short limits, and only for the wait that ends with it: a busy machine answers late.
 * `forbearing` has limits that a test can outlast with many signs of life.
 */
const TIMEOUTS = {
  patient: { first_token_ms: 60_000, idle_ms: 60_000 },
  forbearing: { first_token_ms: 2000, idle_ms: 2000 },
  hasty: { first_token_ms: 150, idle_ms: 150 },
  hastyAfterText: { first_token_ms: 60_000, idle_ms: 150 },
} as const satisfies Record<string, Timeouts>;

export type Patience = keyof typeof TIMEOUTS;

/**
 * Models that lead to the same vendors, each over upstreams of its own. With a model for each test, no failure of one test
 * counts in another: a vendor that has failed several times in a row is passed over, or counts as dead.
 */
export class SeparateModels implements Catalog {
  readonly upstreams: Readonly<Record<string, object>>;
  readonly models: readonly object[];
  private readonly taken: Partial<Record<Patience, number>> = {};

  /** @param count how many there are of each patience. */
  constructor(
    vendors: readonly ScriptedVendor[],
    private readonly count = 60,
  ) {
    const catalogs = (Object.keys(TIMEOUTS) as Patience[]).flatMap((patience) =>
      Array.from({ length: count }, (_, index) => renamed(catalogOf(vendors, patience), `${patience}-${index}`)),
    );
    this.upstreams = Object.assign({}, ...catalogs.map(({ upstreams }) => upstreams)) as Record<string, object>;
    this.models = catalogs.flatMap(({ models }) => models);
  }

  /** The id of a model that nobody has used. */
  next(patience: Patience = 'patient'): string {
    const index = this.taken[patience] ?? 0;
    this.taken[patience] = index + 1;
    if (index >= this.count) throw new Error('There are too few models.');
    return `acme/${patience}-${index}`;
  }
}

/** Only the first vendor is hasty: the others are those that have to answer. */
function catalogOf(vendors: readonly ScriptedVendor[], patience: Patience): Catalog {
  const { upstreams, models } = routesTo(vendors, TIMEOUTS.patient);
  const [first = ''] = Object.keys(upstreams);
  return { upstreams: { ...upstreams, [first]: { ...upstreams[first], timeouts: TIMEOUTS[patience] } }, models };
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
