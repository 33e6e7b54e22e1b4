import { curlCommand } from './curl-command.js';

/** The request stands for this text in the templates of the page. */
const PLACE = '{REQUEST}';

/**
 * The code of a request in one of the languages of the page. The code reads the API key from the environment.
 *
 * @param {string} language `curl`, or the language of a template
 * @param {import('../../client.js').ChatRequest} request
 */
export function codeOf(language, request) {
  if (language === 'curl') return curlCommand(location.origin, request);
  const template = document.getElementById(`code-${language}`);
  const text = template instanceof HTMLTemplateElement ? template.content.textContent : '';
  // JSON of texts and numbers is also valid JavaScript and valid Python.
  return text.replace(PLACE, () => JSON.stringify(request, null, 2));
}
