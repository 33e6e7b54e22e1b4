import { button, create } from '../elements.js';
import { inlineNodes } from './inline-nodes.js';

/**
 * @typedef {import('../../marked.js').Token} Token
 * @typedef {import('../../marked.js').Tokens.List} List
 * @typedef {import('../../marked.js').Tokens.ListItem} ListItem
 * @typedef {import('../../marked.js').Tokens.Code} Code
 * @typedef {import('../../marked.js').Tokens.Table} Table
 */

/**
 * The element for a block of an answer. Each block finds its own writing direction.
 *
 * @param {Token} token
 * @returns {HTMLElement | undefined} `undefined` for a block without content
 */
export function blockNode(token) {
  switch (token.type) {
    case 'space':
    case 'def':
      return undefined;
    case 'heading':
      // The page has two levels of headings above the answers, and one for the speaker.
      return block(/** @type {'h4' | 'h5' | 'h6'} */ (`h${Math.min(6, token.depth + 3)}`), token.tokens);
    case 'hr':
      return create('hr');
    case 'code':
      return codeNode(/** @type {Code} */ (token));
    case 'blockquote':
      return container('blockquote', token.tokens);
    case 'list':
      return listNode(/** @type {List} */ (token));
    case 'table':
      return tableNode(/** @type {Table} */ (token));
    case 'html':
      return withDirection(create('p', 'plain', token.raw.trimEnd()));
    default:
      return block('p', 'tokens' in token ? token.tokens : [token]);
  }
}

/**
 * Changes the element of a block that has grown, where this is cheaper than a new element.
 *
 * @param {HTMLElement} element
 * @param {Token} old
 * @param {Token} token
 * @returns {boolean} whether the element shows the token now
 */
export function growBlock(element, old, token) {
  if (old.type === 'code' && token.type === 'code') {
    if (old['lang'] !== token['lang'] || !token.text.startsWith(old['text'])) return false;
    const code = element.querySelector('code')?.firstChild;
    if (!(code instanceof Text)) return false;
    code.appendData(token.text.slice(old['text'].length));
    return true;
  }
  if (old.type === 'list' && token.type === 'list' && old['ordered'] === token['ordered']) {
    growList(element, /** @type {List} */ (old), /** @type {List} */ (token));
    return true;
  }
  return false;
}

/**
 * @param {HTMLElement} element
 * @param {List} old
 * @param {List} list
 */
function growList(element, old, list) {
  const items = [...element.children];
  list.items.forEach((item, index) => {
    const before = old.items[index];
    if (before?.raw === item.raw && before.loose === item.loose) return;
    const node = itemNode(item);
    const current = items[index];
    if (current === undefined) element.append(node);
    else current.replaceWith(node);
  });
  for (const surplus of items.slice(list.items.length)) surplus.remove();
}

/** @param {List} list */
function listNode(list) {
  const element = create(list.ordered ? 'ol' : 'ul');
  if (element instanceof HTMLOListElement && typeof list.start === 'number') element.start = list.start;
  element.append(...list.items.map(itemNode));
  return withDirection(element);
}

/** @param {ListItem} item */
function itemNode(item) {
  const element = create('li', item.task ? 'task' : '');
  for (const token of item.tokens) {
    // The text of an item in a list without blank lines is not a paragraph.
    if (token.type === 'text' || token.type === 'checkbox') element.append(...inlineNodes([token]));
    else element.append(...[blockNode(token)].filter((node) => node !== undefined));
  }
  return withDirection(element);
}

/** @param {Code} token */
function codeNode({ text, lang = '' }) {
  const element = create('div', 'code-block');
  const head = create('div', 'code-head');
  const code = create('code');
  code.append(document.createTextNode(text));
  const status = create('span');
  status.setAttribute('role', 'status');
  const language = lang.split(/\s/, 1)[0] ?? '';
  const copy = button('Copy', () => {
    navigator.clipboard.writeText(code.textContent).then(
      () => (status.textContent = 'Copied'),
      () => getSelection()?.selectAllChildren(code),
    );
  });
  copy.setAttribute('aria-label', language === '' ? 'Copy code' : `Copy ${language} code`);
  head.append(create('span', 'language', language), status, copy);
  const pre = create('pre');
  pre.tabIndex = 0;
  pre.append(code);
  element.append(head, pre);
  return element;
}

/** @param {Table} table */
function tableNode(table) {
  const element = create('table');
  const head = element.createTHead().insertRow();
  head.append(...table.header.map((cell) => cellNode('th', cell)));
  const body = element.createTBody();
  for (const row of table.rows) body.insertRow().append(...row.map((cell) => cellNode('td', cell)));
  const region = create('div', 'table');
  region.tabIndex = 0;
  region.setAttribute('role', 'region');
  region.setAttribute('aria-label', 'Table');
  region.append(element);
  return region;
}

/**
 * @param {'th' | 'td'} name
 * @param {import('../../marked.js').Tokens.TableCell} cell
 */
function cellNode(name, { tokens, align }) {
  const element = block(name, tokens);
  if (align !== null) element.classList.add(`align-${align}`);
  return element;
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {readonly Token[] | undefined} tokens
 */
function block(name, tokens) {
  const element = create(name);
  element.append(...inlineNodes(tokens));
  return withDirection(element);
}

/**
 * @param {'blockquote'} name
 * @param {readonly Token[] | undefined} tokens
 */
function container(name, tokens = []) {
  const element = create(name);
  element.append(...tokens.map(blockNode).filter((node) => node !== undefined));
  return withDirection(element);
}

/**
 * @template {HTMLElement} T
 * @param {T} element
 */
function withDirection(element) {
  element.dir = 'auto';
  return element;
}
