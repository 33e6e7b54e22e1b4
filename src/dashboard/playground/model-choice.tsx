import type { AppliedPrice, ModelConfig, TierConfig } from '../../config/config.js';
import { count } from '../format/numbers.js';

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
                data-max-tokens={maxTokensOf(model, tier)}
                data-name={model.name}
                data-context={model.contextLength}
                data-price={priceText(model)}
                data-takes-temperature={takesTemperature(model) ? 'yes' : 'no'}
              >
                {optionText(model)}
              </option>
            ))}
        </optgroup>
      ))}
    </select>
  );
}

/** The name with what one needs to choose: the id, the context length and the price. */
function optionText({ name, id, contextLength, price }: ModelConfig): string {
  const context = contextLength < 10_000 ? count(contextLength) : `${Math.round(contextLength / 1000)}K`;
  const prices =
    price === undefined
      ? []
      : [`${perMillion(price.inputPerMillion, price)} / ${perMillion(price.outputPerMillion, price)}`];
  return [name, id, context, ...prices].join(' · ');
}

/** The prices of the model in a sentence. `undefined` if the model has no price. */
function priceText({ price }: ModelConfig): string | undefined {
  if (price === undefined) return undefined;
  return `${perMillion(price.inputPerMillion, price)} in, ${perMillion(price.outputPerMillion, price)} out per million tokens`;
}

function perMillion(amount: number, { currency }: AppliedPrice): string {
  const digits = Number.isInteger(amount * 100) ? 2 : 4;
  const format = { style: 'currency', currency, minimumFractionDigits: 2, maximumFractionDigits: digits } as const;
  return new Intl.NumberFormat('en-US', format).format(amount);
}

/** The highest `max_tokens` that the service accepts for the model and the tier. */
export function maxTokensOf(
  { contextLength, maxOutputTokens = Infinity }: ModelConfig,
  { maxTokens = Infinity }: TierConfig,
) {
  return Math.min(contextLength, maxOutputTokens, maxTokens);
}

function takesTemperature({ routes }: ModelConfig): boolean {
  return routes.some(({ unsupportedOptions }) => !unsupportedOptions.includes('temperature'));
}
