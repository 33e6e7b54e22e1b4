// What plugins use of platform/config.
export {
  CAPABILITIES,
  generationOptionsOf,
  type Capability,
  type GenerationOptions,
} from '../../platform/config/capabilities.js';
export { ConfigError, listenProblem } from '../../platform/config/config-error.js';
export { type ConfigLoad, ConfigReloads } from '../../platform/config/config-reloads.js';
export {
  type BuiltInPlugin,
  type ClaimCondition,
  type Config,
  CONFIG,
  type DatabaseConfig,
  type ModelConfig,
  type PriceConfig,
  type RouteConfig,
  type SingleSignOnConfig,
  type TierConfig,
  type TracingConfig,
  type UpstreamConfig,
  type WebhookConfig,
} from '../../platform/config/config.js';
export { ConfigModule } from '../../platform/config/config.module.js';
export { MICROS } from '../../platform/config/limits/budget.js';
export {
  KEY_LIMITS,
  LIMIT_NAMES,
  type LimitDefinition,
  type LimitName,
  limitNameOf,
  LIMITS,
  type LimitWindow,
} from '../../platform/config/limits/limit-table.js';
export { loadConfig } from '../../platform/config/load-config.js';
export type { Variables } from '../../platform/config/sources/interpolation.js';
export { WEBHOOK_EVENTS, type WebhookEventType } from '../../platform/config/webhook-of.js';
