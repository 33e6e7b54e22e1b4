import type { ModelConfig, TierConfig } from '../../config/config.js';

export interface ModelChoiceProps {
  /** In the order of the configuration. */
  readonly models: readonly ModelConfig[];
  readonly tier: TierConfig;
}

/** The models by provider. The script reads from each what it takes. */
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

/** Above that, the service refuses `max_tokens`. */
export function mostTokens(
  { contextLength, maxOutputTokens = Infinity }: ModelConfig,
  { maxTokens = Infinity }: TierConfig,
) {
  return Math.min(contextLength, maxOutputTokens, maxTokens);
}
