import { ExtensionPoint } from '../common/extensions/extension-point.js';
import type { ModelDefinition } from '../config/model-of.js';

/**
 * Provides models in addition to those of CONFIG_FILE, from a place that can change while the service runs. The service asks
 * at the start and then again and again. While the source fails, the models of its last answer stay.
 */
export interface ModelSource {
  /** The time between two questions, in seconds. Default: 60. */
  readonly refreshSeconds?: number;
  /**
   * Returns all models of the source, in the form of `models` in CONFIG_FILE. The routes name upstreams of CONFIG_FILE. A
   * model that is invalid, whose upstreams are all not configured, or whose id is in CONFIG_FILE is left out.
   *
   * @param signal aborts when the answer takes longer than 10 seconds.
   */
  models(signal: AbortSignal): Promise<readonly ModelDefinition[]>;
  /** Called once. The source calls `changed` when the service should ask again at once. */
  onChange?(changed: () => void): void;
}

export const MODEL_SOURCES = new ExtensionPoint<ModelSource>('modelSources');
