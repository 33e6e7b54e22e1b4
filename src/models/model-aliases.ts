import type { ModelConfig } from '../config/config.js';

interface Beginning {
  readonly text: string;
  readonly model: ModelConfig;
}

/** Finds models by their aliases. If two models have the same alias, the first model wins. */
export class ModelAliases {
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
