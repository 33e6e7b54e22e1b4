import { CAPABILITIES, type ModelConfig, type PriceConfig, type TierConfig } from '../../../plugin-api/core/config.js';
import { count, money } from '../numbers-and-times.js';

interface SettingsFieldsProps extends ModelChoiceProps {
  /** The model that is selected when the page opens. */
  readonly first: ModelConfig | undefined;
}

/** The fields for the request, except for the model and the message, and how answers are shown. On a phone they are a sheet. */
export function SettingsFields({ first, models, tier, takesImagesAndTools }: SettingsFieldsProps) {
  const maxTokens = first && maxTokensOf(first, tier);
  return (
    <section class="settings" id="settings" popover="auto" aria-labelledby="settings-title">
      <div class="settings-head">
        <h2 id="settings-title">Settings</h2>
        <button type="button" class="quiet" popovertarget="settings" popovertargetaction="hide">
          Close
        </button>
      </div>
      <label for="system">System prompt</label>
      <textarea id="system" rows={4} aria-describedby="system-hint" />
      <small id="system-hint">Optional. Sent before every conversation.</small>
      <div class="pair">
        <div>
          <label for="temperature">Temperature</label>
          <input
            id="temperature"
            type="number"
            inputMode="decimal"
            min="0"
            max="2"
            step="0.05"
            value="0.7"
            aria-describedby="temperature-hint"
          />
          <small id="temperature-hint">0 = focused, 2 = random</small>
        </div>
        <div>
          <label for="max-tokens">Max tokens</label>
          <input
            id="max-tokens"
            type="number"
            inputMode="numeric"
            min="1"
            max={maxTokens}
            step="1"
            placeholder="optional"
            aria-describedby="max-tokens-hint"
          />
          <small id="max-tokens-hint">
            {maxTokens === undefined ? 'For each answer' : `Up to ${count(maxTokens)}`}
          </small>
        </div>
      </div>
      <label for="other-model">Compare with</label>
      <select id="other-model" aria-describedby="other-model-hint">
        <option value="">No other model</option>
        {models.map(({ id, name, refusal }) => (
          <option key={id} value={id} disabled={refusal !== undefined}>
            {name}
          </option>
        ))}
      </select>
      <small id="other-model-hint">Answers each question beside the model above. Both answers are charged.</small>
      <div hidden={!takesImagesAndTools}>
        <label for="tools">Tools</label>
        <textarea id="tools" class="code" rows={3} spellcheck={false} aria-describedby="tools-hint" />
        <small id="tools-hint">
          Optional. A JSON array of functions in the format of Chat Completions. The page shows their calls, and sends
          the results that you enter.
        </small>
      </div>
      <label class="checkbox">
        <input id="markdown" type="checkbox" role="switch" checked />
        Show Markdown
      </label>
    </section>
  );
}

/** A model of the list. */
interface OfferedModel extends ModelConfig {
  /** Why the account cannot use the model now, in a few words. `undefined`: it can. */
  readonly refusal: string | undefined;
}

/** The model that is selected when the page opens: the first one that the account can use now. */
export function firstOf(models: readonly OfferedModel[]): OfferedModel | undefined {
  return models.find(({ refusal }) => refusal === undefined) ?? models[0];
}

export interface ModelChoiceProps {
  /** In the order of the configuration. */
  readonly models: readonly OfferedModel[];
  readonly tier: TierConfig;
  /** Whether the service has the path to which the page sends images and tools. */
  readonly takesImagesAndTools: boolean;
}

/** The list of models, grouped by provider. A model that the account cannot use now says why. The script reads the limits of each model from its data attributes. */
export function ModelChoice({ models, tier, takesImagesAndTools }: ModelChoiceProps) {
  const first = firstOf(models);
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
                selected={model === first}
                disabled={model.refusal !== undefined}
                data-max-tokens={maxTokensOf(model, tier)}
                data-name={model.name}
                data-context={model.contextLength}
                data-price={priceText(model)}
                data-takes={takesImagesAndTools ? (model.capabilities ?? CAPABILITIES).join(' ') : ''}
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
function optionText({ refusal, ...model }: OfferedModel): string {
  const { name, id, contextLength } = model;
  const price = priceOf(model);
  const context = contextLength < 10_000 ? count(contextLength) : `${Math.round(contextLength / 1000)}K`;
  const prices =
    price === undefined
      ? []
      : [`${money(price.inputPerMillion, price.currency)} / ${money(price.outputPerMillion, price.currency)}`];
  return [name, id, context, ...prices, ...(refusal === undefined ? [] : [refusal])].join(' · ');
}

/** The prices of the model in a sentence. `undefined` if the model has no price. */
function priceText(model: ModelConfig): string | undefined {
  const price = priceOf(model);
  if (price === undefined) return undefined;
  return `${money(price.inputPerMillion, price.currency)} in, ${money(price.outputPerMillion, price.currency)} out per million tokens`;
}

/** The price of the model, or of its first route. */
function priceOf({ price, routes }: ModelConfig): PriceConfig | undefined {
  return price ?? routes[0].price;
}

/** The highest `max_tokens` that the service accepts for the model and the tier. */
function maxTokensOf({ contextLength, maxOutputTokens = Infinity }: ModelConfig, { maxTokens = Infinity }: TierConfig) {
  return Math.min(contextLength, maxOutputTokens, maxTokens);
}

function takesTemperature({ routes }: ModelConfig): boolean {
  return routes.some(({ unsupportedOptions }) => !unsupportedOptions.includes('temperature'));
}
