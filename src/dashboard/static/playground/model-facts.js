const NUMBERS = new Intl.NumberFormat('en-US');

/**
 * Shows the facts about the selected model: its context length, its price, the maximum tokens of an answer, and whether the
 * model accepts a temperature.
 *
 * @param {import('./settings.js').SettingsFields} fields
 * @param {{ model: HTMLElement, maxTokens: HTMLElement, temperature: HTMLElement }} hints
 */
export function showModelFacts({ model, maxTokens }, hints) {
  const { maxTokens: limit = '', takesTemperature, context = '', price } = model.selectedOptions[0]?.dataset ?? {};
  maxTokens.max = limit;
  hints.model.textContent = [model.value, `${NUMBERS.format(Number(context))} tokens of context`, price]
    .filter((fact) => fact !== undefined && fact !== '')
    .join(' · ');
  hints.maxTokens.textContent = `Up to ${NUMBERS.format(Number(limit))}`;
  hints.temperature.textContent = takesTemperature === 'no' ? 'Not supported by this model' : '0 = focused, 2 = random';
}
