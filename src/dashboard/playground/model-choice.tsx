import type { ModelConfig, TierConfig } from '../../config/config.js';

export interface ModelChoiceProps {
  /** In the order of the configuration. */
  readonly models: readonly ModelConfig[];
  readonly tier: TierConfig;
}

/** The list of models, grouped by provider. The script reads the limits of each model from its data attributes. */
export function ModelChoice({ models, tier }: ModelChoiceProps) {
  const providers = [...new Set(models.map(({ provider }) => provider))];
  return (
    <select id="model">
      {providers.map((provider) => (
        <optgroup key={provider} label={provider}>
          {models
            .filter((model) => model.provider === provider)
            .map((model) => (
              <option
                key={model.id}
                value={model.id}
                selected={model === models[0]}
                data-most-tokens={mostTokens(model, tier)}
                data-takes-temperature={model.routes.some(({ temperature }) => temperature) ? 'yes' : 'no'}
              >
                {model.name}
              </option>
            ))}
        </optgroup>
      ))}
    </select>
  );
}

/** The highest `max_tokens` that the service accepts for the model and the tier. */
export function mostTokens(
  { contextLength, maxOutputTokens = Infinity }: ModelConfig,
  { maxTokens = Infinity }: TierConfig,
) {
  return Math.min(contextLength, maxOutputTokens, maxTokens);
}
