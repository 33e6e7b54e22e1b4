import type { DynamicModule, Type } from '@nestjs/common';
import type { Plugin } from '../../src/plugin-api/plugin-set.js';
import { createTestService, type TestService } from '../../src/testing/service/test-service.js';
import { UsageLedger } from '../../src/usage/ledger/usage-ledger.js';
import type { UsageRecord } from '../../src/usage/record/usage-record.js';
import { configFile, routesTo, type Catalog } from './catalog.js';
import { pluginWith, type TestExtensions } from './extensions.js';
import { Leftovers, LeftoversOfService } from './leftovers.js';
import { runningServices } from './running-services.js';
import { hashUsualPasswordOnce } from './usual-password.js';

export interface ServiceOptions extends Partial<Catalog>, TestExtensions {
  readonly plugins?: readonly Plugin[];
  /** The tiers by name. The first tier is the default tier of accounts. By default there is one tier without limits. */
  readonly tiers?: Readonly<Record<string, object>>;
  /** The receivers of events by name, in the format of CONFIG_FILE. */
  readonly webhooks?: Readonly<Record<string, object>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly pace?: number;
  /** Modules of the test, in addition to the modules of the service. */
  readonly modules?: readonly (Type | DynamicModule)[];
  /** Gets the record of each stream that ends. */
  readonly records?: UsageRecord[] | undefined;
}

/** The service in this process, with its own database in memory and its own port. */
export interface RunningService extends TestService {
  /** Checks that requests have released all resources. The check runs after each test. Some tests also run it in between. */
  readonly leftovers: Pick<Leftovers, 'none'>;
}

/** Starts the service with the parts of CONFIG_FILE that the test sets, and checks at its end that nothing is left. */
export async function startService({
  upstreams,
  models,
  currency,
  pluginConfigs,
  tiers,
  webhooks,
  env = {},
  pace,
  modules = [],
  plugins = [],
  records,
  ...extensions
}: ServiceOptions = {}): Promise<RunningService> {
  const none = routesTo(['http://127.0.0.1:9']);
  const catalog = { upstreams: upstreams ?? none.upstreams, models: models ?? none.models, currency, pluginConfigs };
  const afterwards = new LeftoversOfService();
  const service = await createTestService({
    config: configFile(catalog, tiers, webhooks),
    env,
    pace,
    plugins: [pluginWith(extensions), ...plugins],
    imports: modules,
  });
  const { app } = service;
  hashUsualPasswordOnce(app);
  if (records !== undefined) app.get(UsageLedger, { strict: false }).listen((record) => records.push(record));
  const running = { leftovers: new Leftovers(app) };
  runningServices.add(running);
  return {
    ...service,
    leftovers: running.leftovers,
    async stop() {
      await running.leftovers.none().finally(() => {
        runningServices.delete(running);
        return service.stop();
      });
      await afterwards.none(app);
    },
  };
}
