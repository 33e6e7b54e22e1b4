/**
 * @typedef {object} SettingsFields
 * @property {HTMLSelectElement} model
 * @property {HTMLTextAreaElement} system
 * @property {HTMLInputElement} temperature
 * @property {HTMLInputElement} maxTokens
 */

/** The settings of a request, in addition to the messages. Session storage keeps them, so a reload does not lose them. */
export class Settings {
  /**
   * @param {SettingsFields} fields
   * @param {string} accountId the account that owns the settings. Another account in the same tab does not get them.
   * @param {Storage} storage
   */
  constructor(fields, accountId, storage) {
    this.fields = fields;
    this.accountId = accountId;
    this.storage = storage;
  }

  get model() {
    return this.fields.model.value;
  }

  get modelName() {
    return this.fields.model.selectedOptions[0]?.text ?? this.model;
  }

  get system() {
    return this.fields.system.value;
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

  keep() {
    const values = Object.entries(this.fields).map(([name, field]) => [name, field.value]);
    try {
      this.storage.setItem('playground', JSON.stringify({ accountId: this.accountId, ...Object.fromEntries(values) }));
    } catch {
      // The browser may forbid storage, or the storage may be full. A reload then loses the settings.
    }
  }

  restore() {
    const kept = this.#read();
    if (kept?.accountId !== this.accountId) return;
    const { model, system, temperature, maxTokens } = this.fields;
    for (const [field, value] of [
      [system, kept.system],
      [temperature, kept.temperature],
      [maxTokens, kept.maxTokens],
    ]) {
      if (typeof value === 'string') field.value = value;
    }
    if ([...model.options].some(({ value }) => value === kept.model)) model.value = kept.model;
  }

  #read() {
    try {
      return JSON.parse(this.storage.getItem('playground') ?? 'null');
    } catch {
      return undefined;
    }
  }
}
