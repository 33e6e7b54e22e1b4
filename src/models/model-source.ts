import { ExtensionPoint } from '../common/extensions/extension-point.js';
import type { ModelDefinition } from '../config/model-of.js';

/**
 * Provides models in addition to those of CONFIG_FILE, from a place that can change while the service runs. The service reads
 * the source at the start and then at regular intervals. While the source fails, its last models stay.
 *
 * @experimental
 * @since 1.0
 */
export interface ModelSource {
  /** The interval between two reads, in seconds. Default: 60. */
  readonly refreshSeconds?: number;
  /**
   * Returns all models of the source, in the form of `models` in CONFIG_FILE. The routes name upstreams of CONFIG_FILE. A
   * model that is invalid, whose upstreams are all not configured, or whose id is in CONFIG_FILE is left out.
   *
   * @param signal aborts after 10 seconds.
   */
  models(signal: AbortSignal): Promise<readonly ModelDefinition[]>;
  /** Called once. The source calls `changed` when the service should read it again at once. */
  onChange?(changed: () => void): void;
}

export const MODEL_SOURCES = new ExtensionPoint<ModelSource>('modelSources');
