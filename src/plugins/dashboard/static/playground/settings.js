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
    otherModel: element('other-model', HTMLSelectElement),
    tools: element('tools', HTMLTextAreaElement),
  };
  #modelHint = element('model-facts', HTMLElement);
  #maxTokensHint = element('max-tokens-hint', HTMLElement);
  #temperatureHint = element('temperature-hint', HTMLElement);

  get model() {
    return this.fields.model.value;
  }

  get modelName() {
    return this.nameOf(this.model);
  }

  /** @param {string} id */
  nameOf(id) {
    return this.#option(id)?.dataset['name'] ?? id;
  }

  /** The model that answers the same questions beside the first one. */
  get otherModel() {
    const { value } = this.fields.otherModel;
    return value === '' || value === this.model ? undefined : value;
  }

  /** The names of the models that take no images, among those that answer. */
  get modelsWithoutImages() {
    const asked = [this.model, ...(this.otherModel === undefined ? [] : [this.otherModel])];
    return asked.filter((id) => !this.#takes(id, 'images')).map((id) => this.nameOf(id));
  }

  /** What is wrong with the tools. `undefined` if nothing is. */
  get toolsProblem() {
    const { tools } = this.fields;
    try {
      this.#tools();
      tools.removeAttribute('aria-invalid');
      return undefined;
    } catch {
      tools.setAttribute('aria-invalid', 'true');
      return 'The tools are not a JSON array of functions. Correct them in the settings, or empty the field.';
    }
  }

  /** @returns {readonly object[]} */
  #tools() {
    const { tools } = this.fields;
    const list = tools.value.trim() === '' ? [] : JSON.parse(tools.value);
    if (!Array.isArray(list)) throw new TypeError('The tools are not an array.');
    return list;
  }

  /** @param {string} id */
  #option(id) {
    return [...this.fields.model.options].find(({ value }) => value === id);
  }

  /**
   * @param {string} id
   * @param {'images' | 'tools'} what
   */
  #takes(id, what) {
    return this.#option(id)?.dataset['takes']?.split(' ').includes(what) === true;
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
   * @param {import('./answer/completion-stream.js').CompletionMessage[]} messages
   * @param {string} [model] another model than the chosen one. Without effect if it is gone.
   * @returns {import('./answer/completion-stream.js').AnyRequest}
   */
  request(messages, model) {
    const { temperature, maxTokens } = this.fields;
    const id = model !== undefined && this.#option(model) !== undefined ? model : this.model;
    const tools = this.#takes(id, 'tools') ? this.#tools() : [];
    const options = {
      model: id,
      ...(temperature.value === '' ? {} : { temperature: temperature.valueAsNumber }),
      ...(maxTokens.value === '' ? {} : { max_tokens: maxTokens.valueAsNumber }),
    };
    const plain = messages.filter(isPlain);
    if (tools.length === 0 && plain.length === messages.length) return { ...options, messages: plain };
    return { ...options, messages, ...(tools.length > 0 && { tools }), stream: true };
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
    const { model, maxTokens, tools } = this.fields;
    tools.disabled = !this.#takes(model.value, 'tools');
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
    const { markdown, ...others } = this.fields;
    const texts = Object.entries(others).map(([name, { value }]) => /** @type {const} */ ([name, value]));
    return { ...Object.fromEntries(texts), markdown: markdown.checked };
  }

  /**
   * Restores kept values. A model that is gone, or that the account cannot use now, is replaced by the first usable model.
   *
   * @param {Readonly<Record<string, unknown>>} kept
   * @returns {string | undefined} the id of the model that is gone
   */
  restore(kept) {
    const { model, otherModel, markdown, ...texts } = this.fields;
    for (const [name, field] of Object.entries(texts)) {
      const value = kept[name];
      if (typeof value === 'string') field.value = value;
    }
    if (typeof kept['markdown'] === 'boolean') markdown.checked = kept['markdown'];
    const other = kept['otherModel'];
    if ([...otherModel.options].some(({ value, disabled }) => value === other && !disabled))
      otherModel.value = String(other);
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

/**
 * Whether `POST /chat/stream` takes the message.
 *
 * @param {import('./answer/completion-stream.js').CompletionMessage} message
 * @returns {message is import('../client.js').ChatMessage}
 */
function isPlain(message) {
  return message.role !== 'tool' && typeof message.content === 'string' && !('tool_calls' in message);
}
