import { routesTo, type Catalog, type Timeouts } from './catalog.js';
import { ScriptedVendor } from './scripted-vendor.js';
import { startService, type RunningService, type ServiceOptions } from './service.js';

export interface StageOptions extends Omit<ServiceOptions, 'upstreams' | 'models'> {
  /** Returns the catalog. By default it has one model with a route to each vendor. */
  readonly catalog?: (vendors: readonly ScriptedVendor[]) => Catalog;
  readonly timeouts?: Timeouts;
  /** The price of the model, in the format of CONFIG_FILE. */
  readonly price?: object;
}

/** The service with one model, whose routes use scripted vendors. */
export interface Stage {
  readonly vendor: ScriptedVendor;
  /** All vendors. The first one is `vendor`. */
  readonly vendors: readonly ScriptedVendor[];
  readonly service: RunningService;
  readonly origin: string;
  /** An API key of an account in the default tier. */
  readonly key: string;
  clear(): Promise<void>;
}

export async function setStage(
  vendorCount = 1,
  { catalog, timeouts, price, ...options }: StageOptions = {},
): Promise<Stage> {
  const first = await ScriptedVendor.start();
  const others = await Promise.all(Array.from({ length: vendorCount - 1 }, () => ScriptedVendor.start()));
  const vendors = [first, ...others];
  const service = await startService({ ...(catalog?.(vendors) ?? routesTo(vendors, timeouts, price)), ...options });
  const { key } = await service.createKey();
  return {
    vendor: first,
    vendors,
    service,
    origin: service.origin,
    key,
    async clear() {
      await service.stop();
      await Promise.all(vendors.map((vendor) => vendor.stop()));
    },
  };
}
