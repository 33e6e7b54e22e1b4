import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '../common/service-error.js';
import { CONFIG, type Config, type ModelConfig } from '../config/config.js';

/** The models that are served: those of the configuration with at least one configured upstream. */
@Injectable()
export class ModelCatalog {
  private readonly byId: ReadonlyMap<string, ModelConfig>;

  constructor(@Inject(CONFIG) config: Config) {
    this.byId = new Map(config.models.map((model) => [model.id, model]));
  }

  /** In the order of the configuration. */
  all(): readonly ModelConfig[] {
    return [...this.byId.values()];
  }

  /** @throws {ServiceError} `model_not_found` */
  get(id: string): ModelConfig {
    const model = this.byId.get(id);
    if (model === undefined) {
      throw new ServiceError(
        'model_not_found',
        'There is no such model. GET /api/v1/chat/models lists those there are.',
        {
          details: [{ field: 'model', message: 'is not the id of a model' }],
        },
      );
    }
    return model;
  }
}
