import { CONFIG, type Config, type ModelConfig } from '../platform/config/config.js';
import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '../platform/common/service-error.js';
import { invalidRequest } from '../platform/http/request/request-validation.pipe.js';
import type { Request } from 'express';
import { restrictionsOf } from '../auth/principal/principal.js';

interface Beginning {
  readonly text: string;
  readonly model: ModelConfig;
}

/** Finds models by their aliases. If two models have the same alias, the first model wins. */
class ModelAliases {
  private readonly exact = new Map<string, ModelConfig>();
  /** The longest beginning first. */
  private readonly beginnings: readonly Beginning[];

  constructor(models: readonly ModelConfig[]) {
    const beginnings: Beginning[] = [];
    for (const model of models) {
      for (const alias of model.aliases ?? []) {
        if (alias.endsWith('*')) beginnings.push({ text: alias.slice(0, -1), model });
        else if (!this.exact.has(alias)) this.exact.set(alias, model);
      }
    }
    this.beginnings = beginnings.sort((one, other) => other.text.length - one.text.length);
  }

  find(name: string): ModelConfig | undefined {
    return this.exact.get(name) ?? this.beginnings.find(({ text }) => name.startsWith(text))?.model;
  }
}

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

/** Returns the models that the credential of a request may use. `undefined`: all models. */
export function modelAccessOf({ context: { principal } }: Request): ModelAccess | undefined {
  return principal && restrictionsOf(principal);
}
