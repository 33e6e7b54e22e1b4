import type { Config, TierConfig } from '../../config/config.js';

/** What an account of the tier may do. One whose tier is gone from the configuration has the default tier. */
export function tierNamed(config: Config, name: string): TierConfig {
  return config.tiers.get(name) ?? config.defaultTier;
}
