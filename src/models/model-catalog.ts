import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '../common/service-error.js';
import { invalidRequest } from '../http/request/invalid-request.js';
import { ModelAliases } from './model-aliases.js';
import { CONFIG, type Config, type ModelConfig } from '../config/config.js';

/** The models that a caller may use, such as the restrictions of an API key. */
export interface ModelAccess {
  allowsModel(id: string): boolean;
}

/**
 * The available models: the models of the configuration that have at least one configured upstream, and then the models of
 * plugins.
 *
 * @since 1.0
 */
@Injectable()
export class ModelCatalog {
  private configured: readonly ModelConfig[];
  private added: readonly ModelConfig[] = [];
  private byId: ReadonlyMap<string, ModelConfig> = new Map();
  private ordered: readonly ModelConfig[] = [];
  private aliases = new ModelAliases([]);

  constructor(@Inject(CONFIG) config: Config) {
    this.configured = config.models;
    this.add([]);
  }

  /** Replaces the models of the configuration. */
  configure(models: readonly ModelConfig[]): void {
    this.configured = models;
    this.add(this.added);
  }

  /** Replaces the models of plugins. A model of the configuration with the same id stays. */
  add(models: readonly ModelConfig[]): void {
    this.added = models;
    const byId = new Map(this.configured.map((model) => [model.id, model]));
    for (const model of models) if (!byId.has(model.id)) byId.set(model.id, model);
    this.byId = byId;
    this.ordered = [...byId.values()];
    this.aliases = new ModelAliases(this.ordered);
  }

  /** Returns all models in the order of the configuration. Returns the same array until the models change. */
  all(): readonly ModelConfig[] {
    return this.ordered;
  }

  /** Returns the models that the caller may use, in the order of {@link all}. */
  allowed(access: ModelAccess | undefined): readonly ModelConfig[] {
    return access === undefined ? this.ordered : this.ordered.filter(({ id }) => access.allowsModel(id));
  }

  /** Returns the model with this id or alias, or `undefined` if there is none. */
  find(id: string): ModelConfig | undefined {
    return this.byId.get(id) ?? this.aliases.find(id);
  }

  /**
   * Returns the model with this id or alias.
   *
   * @param access what the caller may use. By default all models.
   * @throws {ServiceError} `invalid_request` if there is no such alias and the name cannot be an id; `model_not_found` if there is no such model, or if the caller may not use the model.
   */
  get(id: string, access?: ModelAccess): ModelConfig {
    const model = this.find(id);
    if (model === undefined && !id.includes('/')) {
      throw invalidRequest([{ field: 'model', message: 'must have the form <vendor>/<model_name>' }]);
    }
    if (model === undefined || access?.allowsModel(model.id) === false) {
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
