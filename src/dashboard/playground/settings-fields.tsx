import type { ModelConfig, TierConfig } from '../../config/config.js';
import { count } from '../format/numbers.js';
import { maxTokensOf } from './model-choice.js';

interface SettingsFieldsProps {
  /** The model that is selected when the page opens. */
  readonly first: ModelConfig | undefined;
  readonly tier: TierConfig;
}

/** The fields for the system prompt, the temperature, the maximum number of tokens, and how answers are shown. On a phone they are a sheet. */
export function SettingsFields({ first, tier }: SettingsFieldsProps) {
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
      <label class="checkbox">
        <input id="markdown" type="checkbox" role="switch" checked />
        Show Markdown
      </label>
    </section>
  );
}
