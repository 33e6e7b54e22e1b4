import { Inject, Injectable, Logger } from '@nestjs/common';
import { ConfigError } from '../platform/config/config-error.js';
import { ConfigReloads } from '../platform/config/config-reloads.js';
import { CONFIG, type Config } from '../platform/config/config.js';
import { ProtocolRegistry } from '../upstreams/protocols/protocol-registry.js';
import { ModelCatalog } from './model-catalog.js';

/** The members of the configuration that CONFIG_FILE sets, and that can change while the service runs. */
type Reloaded = Pick<
  Config,
  'upstreams' | 'models' | 'leftOut' | 'tiers' | 'defaultTier' | 'currency' | 'webhooks' | 'catalogHash'
>;

/**
 * Replaces upstreams, models, tiers, prices, webhooks and the configurations of plugins by those of the changed CONFIG_FILE. Requests
 * that begin afterwards use the new ones. Streams that run keep their model, their routes and their price. If the file is invalid,
 * nothing changes.
 */
@Injectable()
export class ConfigReload {
  private readonly logger = new Logger('Config');

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly protocols: ProtocolRegistry,
    private readonly catalog: ModelCatalog,
    private readonly reloads: ConfigReloads,
  ) {}

  /**
   * Applies the configuration that `load` returns. Reports the result in one line of the log, and never throws.
   *
   * @returns whether the configuration has changed.
   */
  apply(load: () => Config): boolean {
    const { catalogName } = this.config;
    try {
      const next = load();
      if (next.catalogHash === this.config.catalogHash) {
        this.reloads.last = { at: Date.now(), result: 'unchanged' };
        this.logger.log(`${catalogName} has not changed: ${next.catalogHash}`);
        return false;
      }
      const use = this.reloads.check(next);
      this.protocols.connect(next);
      Object.assign(this.config, reloadedPart(next));
      this.catalog.configure(next.models);
      use();
      this.reloads.succeeded++;
      this.reloads.last = { at: Date.now(), result: 'loaded' };
      this.logger.log(`${catalogName} was read again: ${next.catalogHash}`);
      return true;
    } catch (error) {
      this.reloads.failed++;
      const problems = error instanceof ConfigError ? error.problems.join('; ') : String(error);
      this.reloads.last = { at: Date.now(), result: 'invalid', problem: problems };
      this.logger.error(`${catalogName} is invalid, and ${this.config.catalogHash} stays in use: ${problems}`);
      return false;
    }
  }
}

function reloadedPart(next: Config): Reloaded {
  const { upstreams, models, leftOut, tiers, defaultTier, currency, webhooks, catalogHash } = next;
  return { upstreams, models, leftOut, tiers, defaultTier, currency, webhooks, catalogHash };
}
