import { element } from './elements.js';

const NUMBERS = new Intl.NumberFormat('en-US');

/** The settings of a request, in addition to the messages, and how answers are shown. */
export class Settings {
  fields = {
    model: element('model', HTMLSelectElement),
    system: element('system', HTMLTextAreaElement),
    temperature: element('temperature', HTMLInputElement),
    maxTokens: element('max-tokens', HTMLInputElement),
    markdown: element('markdown', HTMLInputElement),
  };
  #modelHint = element('model-facts', HTMLElement);
  #maxTokensHint = element('max-tokens-hint', HTMLElement);
  #temperatureHint = element('temperature-hint', HTMLElement);

  get model() {
    return this.fields.model.value;
  }

  get modelName() {
    return this.fields.model.selectedOptions[0]?.dataset['name'] ?? this.model;
  }

  get system() {
    return this.fields.system.value;
  }

  /** The limit of the answer. @param {number} maxTokens */
  set maxTokens(maxTokens) {
    this.fields.maxTokens.value = String(maxTokens);
  }

  get showsMarkdown() {
    return this.fields.markdown.checked;
  }

  /**
   * @param {import('../client.js').ChatMessage[]} messages
   * @returns {import('../client.js').ChatRequest}
   */
  request(messages) {
    const { temperature, maxTokens } = this.fields;
    return {
      model: this.model,
      messages,
      ...(temperature.value === '' ? {} : { temperature: temperature.valueAsNumber }),
      ...(maxTokens.value === '' ? {} : { max_tokens: maxTokens.valueAsNumber }),
    };
  }

  /**
   * Marks the fields that the service refused, and removes the mark from all other fields.
   *
   * @param {readonly string[]} names the field names of the request
   */
  markInvalid(names) {
    const { model, temperature, maxTokens } = this.fields;
    for (const [name, field] of /** @type {const} */ ([
      ['model', model],
      ['temperature', temperature],
      ['max_tokens', maxTokens],
    ])) {
      if (names.includes(name)) field.setAttribute('aria-invalid', 'true');
      else field.removeAttribute('aria-invalid');
    }
  }

  /**
   * Replaces the list of models, after a model has disappeared. The chosen model stays if it is still there.
   *
   * @param {readonly import('../client.js').Model[]} models
   */
  replaceModels(models) {
    const { model } = this.fields;
    const chosen = model.value;
    const known = new Map([...model.options].map((option) => [option.value, option]));
    model.replaceChildren(...models.map((one) => known.get(one.id) ?? newOption(one)));
    model.value = models.some(({ id }) => id === chosen) ? chosen : (models[0]?.id ?? '');
  }

  /**
   * Shows the facts about the selected model: its context length, its price, the maximum tokens of an answer, and whether the
   * model accepts a temperature.
   */
  showModelFacts() {
    const { model, maxTokens } = this.fields;
    const { maxTokens: limit = '', takesTemperature, context = '', price } = model.selectedOptions[0]?.dataset ?? {};
    maxTokens.max = limit;
    this.#modelHint.textContent = [model.value, `${NUMBERS.format(Number(context))} tokens of context`, price]
      .filter((fact) => fact !== undefined && fact !== '')
      .join(' · ');
    this.#maxTokensHint.textContent = `Up to ${NUMBERS.format(Number(limit))}`;
    this.#temperatureHint.textContent =
      takesTemperature === 'no' ? 'Not supported by this model' : '0 = focused, 2 = random';
  }

  /**
   * Says that the model of the kept settings is gone.
   *
   * @param {string} text
   */
  noteModel(text) {
    this.#modelHint.textContent = text;
  }

  /** The values of all fields, to be kept. */
  get values() {
    const { model, system, temperature, maxTokens, markdown } = this.fields;
    return {
      model: model.value,
      system: system.value,
      temperature: temperature.value,
      maxTokens: maxTokens.value,
      markdown: markdown.checked,
    };
  }

  /**
   * Restores kept values. A model that is gone, or that the account cannot use now, is replaced by the first usable model.
   *
   * @param {Readonly<Record<string, unknown>>} kept
   * @returns {string | undefined} the id of the model that is gone
   */
  restore(kept) {
    const { model, system, temperature, maxTokens, markdown } = this.fields;
    for (const [field, value] of /** @type {const} */ ([
      [system, kept['system']],
      [temperature, kept['temperature']],
      [maxTokens, kept['maxTokens']],
    ])) {
      if (typeof value === 'string') field.value = value;
    }
    if (typeof kept['markdown'] === 'boolean') markdown.checked = kept['markdown'];
    const id = kept['model'];
    if (typeof id !== 'string') return undefined;
    if (![...model.options].some(({ value, disabled }) => value === id && !disabled)) return id;
    model.value = id;
    return undefined;
  }
}

/** @param {import('../client.js').Model} model */
function newOption({ id, name, context_length: contextLength }) {
  const option = new Option(`${name} (${id})`, id);
  Object.assign(option.dataset, { name, context: String(contextLength), maxTokens: String(contextLength) });
  return option;
}
