import type { Config, TierConfig } from '../../config/config.js';

/** Finds a tier by name. Returns the default tier when the configuration has no tier of this name. */
export function tierNamed(config: Config, name: string): TierConfig {
  return config.tiers.get(name) ?? config.defaultTier;
}
