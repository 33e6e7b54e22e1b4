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
 * Creates an element with its properties and children. A text is never HTML.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {string | Partial<HTMLElementTagNameMap[K]>} [properties] a text is the class
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function create(name, properties = '', ...children) {
  const made = document.createElement(name);
  if (typeof properties !== 'string') Object.assign(made, properties);
  else if (properties !== '') made.className = properties;
  made.append(...children.filter((child) => child !== ''));
  return made;
}

/**
 * @param {string} text
 * @param {() => void} act
 * @param {string} [className]
 */
export function button(text, act, className = 'quiet') {
  const made = create('button', { type: 'button', className }, text);
  made.addEventListener('click', act);
  return made;
}

/**
 * Saves a text as a file of the user.
 *
 * @param {string} name
 * @param {string} text
 * @param {string} type
 * @param {string} extension
 */
export function download(name, text, type, extension) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name}-${new Date().toISOString().slice(0, 10)}.${extension}`;
  link.click();
  URL.revokeObjectURL(url);
}
