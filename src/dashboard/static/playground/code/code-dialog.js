import { element } from '../elements.js';
import { curlCommand } from './curl-command.js';

/** The request stands for this text in the templates of the page. */
const PLACE = '{REQUEST}';

/** The dialog with a request as curl, JavaScript and Python. */
export class CodeDialog {
  /** @type {import('../../client.js').ChatRequest | undefined} */
  #request;
  #dialog = element('code-dialog', HTMLDialogElement);
  #code = element('request-code', HTMLElement);
  #note = element('code-note', HTMLElement);

  constructor() {
    element('code-close', HTMLButtonElement).addEventListener('click', () => this.#dialog.close());
    for (const choice of this.#choices) choice.addEventListener('change', () => this.#show());
  }

  get #choices() {
    return [...this.#dialog.querySelectorAll('input')];
  }

  /**
   * @param {import('../../client.js').ChatRequest} request
   * @param {boolean} wasSent
   */
  open(request, wasSent) {
    this.#request = request;
    this.#note.textContent = wasSent ? 'The request exactly as it was sent.' : 'The request that Send would send now.';
    this.#show();
    this.#dialog.showModal();
  }

  #show() {
    const language = this.#choices.find(({ checked }) => checked)?.value ?? 'curl';
    if (this.#request !== undefined) this.#code.textContent = codeOf(language, this.#request);
  }
}

/**
 * The code of a request in one of the languages of the page. The code reads the API key from the environment.
 *
 * @param {string} language `curl`, or the language of a template
 * @param {import('../../client.js').ChatRequest} request
 */
function codeOf(language, request) {
  if (language === 'curl') return curlCommand(location.origin, request);
  const { content } = element(`code-${language}`, HTMLTemplateElement);
  // JSON of texts and numbers is also valid JavaScript and valid Python.
  return content.textContent.replace(PLACE, () => JSON.stringify(request, null, 2));
}
