const NUMBERS = new Intl.NumberFormat('en-US');

/**
 * Shows the limits of the selected model: the maximum tokens of an answer, and whether the model accepts a temperature.
 *
 * @param {import('./settings.js').SettingsFields} fields
 * @param {{ maxTokens: HTMLElement, temperature: HTMLElement }} hints
 */
export function showModelLimits({ model, maxTokens }, hints) {
  const { mostTokens = '', takesTemperature } = model.selectedOptions[0]?.dataset ?? {};
  maxTokens.max = mostTokens;
  hints.maxTokens.textContent = `Up to ${NUMBERS.format(Number(mostTokens))}`;
  hints.temperature.textContent = takesTemperature === 'no' ? 'Not supported by this model' : '0 = focused, 2 = random';
}
