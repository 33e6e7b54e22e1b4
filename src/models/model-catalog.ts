import { Inject, Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { ServiceError } from '../common/service-error.js';
import { VERSION } from '../common/version.js';
import { CONFIG, type Config, type ModelConfig } from '../config/config.js';

/** The available models: the models of the configuration that have at least one configured upstream. */
@Injectable()
export class ModelCatalog {
  /**
   * Identifies the catalog. Different catalogs have different fingerprints, so that replicas of two releases can share a
   * cache.
   */
  readonly fingerprint: string;
  private readonly byId: ReadonlyMap<string, ModelConfig>;

  constructor(@Inject(CONFIG) config: Config) {
    this.byId = new Map(config.models.map((model) => [model.id, model]));
    const listed = config.models.map(({ id, name, provider, contextLength }) => [id, name, provider, contextLength]);
    this.fingerprint = createHash('sha256')
      .update(JSON.stringify([VERSION, listed]))
      .digest('base64url');
  }

  /** Returns all models in the order of the configuration. */
  all(): readonly ModelConfig[] {
    return [...this.byId.values()];
  }

  /**
   * Returns the model with this id.
   *
   * @throws {ServiceError} `model_not_found` if there is no such model.
   */
  get(id: string): ModelConfig {
    const model = this.byId.get(id);
    if (model === undefined) {
      throw new ServiceError(
        'model_not_found',
        'This model does not exist. GET /api/v1/chat/models lists the available models.',
        {
          details: [{ field: 'model', message: 'is unknown' }],
        },
      );
    }
    return model;
  }
}
