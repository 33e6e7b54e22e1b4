import { isCompletionRequest } from './answer/completion-stream.js';
import { element } from './elements.js';

/** @typedef {import('./answer/completion-stream.js').AnyRequest} AnyRequest */

const STREAM_PATH = '/api/v1/chat/stream';
/** Requests with images or tools. With a session, the page sends them to a path of its own. */
const COMPLETIONS_PATH = '/api/v1/chat/completions';

/** Linux rejects arguments longer than 128 KiB. This limit leaves some room. */
const MAX_ARGUMENT_BYTES = 100_000;

/**
 * The request as a command for a POSIX shell. The command reads the API key from `$API_KEY`.
 *
 * @param {string} origin
 * @param {AnyRequest} request
 */
export function curlCommand(origin, request) {
  // The JSON text contains no line breaks and no control characters, because JSON.stringify escapes them.
  const body = quoted(JSON.stringify(request));
  const isShort = new TextEncoder().encode(body).length <= MAX_ARGUMENT_BYTES;
  const lines = [
    `curl -N ${quoted(origin + (isCompletionRequest(request) ? COMPLETIONS_PATH : STREAM_PATH))}`,
    '  -H "Authorization: Bearer $API_KEY"',
    "  -H 'Content-Type: application/json'",
    `  --data-raw ${body}`,
  ];
  if (isShort) return lines.join(' \\\n');
  // `printf` is a shell builtin, so the limit for program arguments does not apply to it.
  return `printf '%s' ${body} |\n${[...lines.slice(0, -1), '  --data-binary @-'].join(' \\\n')}`;
}

/**
 * Quotes the text as one shell word. Between single quotes, only the single quote itself has a special meaning.
 *
 * @param {string} text
 */
function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The request stands for this text in the templates of the page. */
const PLACE = '{REQUEST}';

/** The dialog with a request as curl, JavaScript and Python. */
export class CodeDialog {
  /** @type {AnyRequest | undefined} */
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
   * @param {AnyRequest} request
   * @param {boolean} wasSent
   */
  open(request, wasSent) {
    this.#request = request;
    // The templates call `POST /chat/stream`.
    for (const choice of this.#choices) {
      if (choice.value === 'curl') choice.checked ||= isCompletionRequest(request);
      else choice.disabled = isCompletionRequest(request);
    }
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
 * @param {AnyRequest} request
 */
function codeOf(language, request) {
  if (language === 'curl') return curlCommand(location.origin, request);
  const { content } = element(`code-${language}`, HTMLTemplateElement);
  // JSON of texts and numbers is also valid JavaScript and valid Python.
  return content.textContent.replace(PLACE, () => JSON.stringify(request, null, 2));
}
