import { routesTo, type Catalog, type Timeouts } from './catalog.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { startService, type RunningService, type ServiceOptions } from './service.js';

export interface StageOptions extends Omit<ServiceOptions, 'upstreams' | 'models'> {
  /** Returns the catalog. By default it has one model with a route to each provider. */
  readonly catalog?: (providers: readonly ScriptedProvider[]) => Catalog;
  readonly timeouts?: Timeouts;
  /** The price of the model, in the format of CONFIG_FILE. */
  readonly price?: object;
}

/** The service with one model, whose routes use scripted providers. */
export interface Stage {
  readonly provider: ScriptedProvider;
  /** All providers. The first one is `provider`. */
  readonly providers: readonly ScriptedProvider[];
  readonly service: RunningService;
  readonly origin: string;
  /** An API key of an account in the default tier. */
  readonly key: string;
  clear(): Promise<void>;
}

export async function setStage(
  providerCount = 1,
  { catalog, timeouts, price, ...options }: StageOptions = {},
): Promise<Stage> {
  const first = await ScriptedProvider.start();
  const others = await Promise.all(Array.from({ length: providerCount - 1 }, () => ScriptedProvider.start()));
  const providers = [first, ...others];
  const service = await startService({ ...(catalog?.(providers) ?? routesTo(providers, timeouts, price)), ...options });
  const { key } = await service.createKey();
  return {
    provider: first,
    providers,
    service,
    origin: service.origin,
    key,
    async clear() {
      await service.stop();
      await Promise.all(providers.map((provider) => provider.stop()));
    },
  };
}
