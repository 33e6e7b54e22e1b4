/**
 * Finds an element of the page.
 *
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function element(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no ${type.name} "${id}".`);
  return found;
}

/**
 * Creates an element with a class and a text. A text is never HTML.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {string} [className]
 * @param {string} [text]
 */
export function create(name, className = '', text = '') {
  const made = document.createElement(name);
  if (className !== '') made.className = className;
  if (text !== '') made.textContent = text;
  return made;
}

/**
 * @param {string} text
 * @param {() => void} act
 * @param {string} [className]
 */
export function button(text, act, className = 'quiet') {
  const made = create('button', className, text);
  made.type = 'button';
  made.addEventListener('click', act);
  return made;
}
