import { button, create } from '../elements.js';
import { partsOf } from './block-parts.js';
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
 * @param {number} settled the number of parts of the element that come before the token
 * @returns {boolean} whether the element shows the token now
 */
export function growBlock(element, old, token, settled) {
  if (old.type === 'paragraph' && token.type === 'paragraph') {
    const { parent, parts } = partsOf(element);
    for (const part of parts.slice(settled)) part.remove();
    parent.append(...inlineNodes(token.tokens));
    return true;
  }
  if (old.type === 'code' && token.type === 'code') {
    if (old['lang'] !== token['lang'] || !token.text.startsWith(old['text'])) return false;
    const code = element.querySelector('code')?.firstChild;
    if (!(code instanceof Text)) return false;
    code.appendData(token.text.slice(old['text'].length));
    return true;
  }
  if (old.type === 'list' && token.type === 'list' && old['ordered'] === token['ordered']) {
    const [before, items] = [/** @type {List} */ (old).items, /** @type {List} */ (token).items];
    growParts(element, settled, items.length, (index) => {
      const [one, item] = [before[index], items[index]];
      return item === undefined || (one?.raw === item.raw && one.loose === item.loose) ? undefined : itemNode(item);
    });
    return true;
  }
  if (old.type === 'table' && token.type === 'table' && headOf(old) === headOf(token)) {
    const [before, rows] = [/** @type {Table} */ (old).rows, /** @type {Table} */ (token).rows];
    growParts(element, settled, rows.length, (index) => {
      const row = rows[index];
      return row === undefined || textsOf(before[index]) === textsOf(row) ? undefined : rowNode(row);
    });
    return true;
  }
  return false;
}

/**
 * Shows the items of a list or the rows of a table, and leaves the unchanged ones alone.
 *
 * @param {HTMLElement} element
 * @param {number} settled the number of parts that stay in any case
 * @param {number} count the number of parts after them
 * @param {(index: number) => Node | undefined} changed the new node of a part, or `undefined` if the part has not changed
 */
function growParts(element, settled, count, changed) {
  const { parent, parts } = partsOf(element);
  for (let index = 0; index < count; index++) {
    const node = changed(index);
    const current = parts[settled + index];
    if (node === undefined) continue;
    if (current === undefined) parent.append(node);
    else current.replaceWith(node);
  }
  for (const surplus of parts.slice(settled + count)) surplus.remove();
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
  element.createTBody().append(...table.rows.map(rowNode));
  const region = create('div', 'table');
  region.tabIndex = 0;
  region.setAttribute('role', 'region');
  region.setAttribute('aria-label', 'Table');
  region.append(element);
  return region;
}

/** @param {import('../../marked.js').Tokens.TableCell[]} cells */
function rowNode(cells) {
  const row = create('tr');
  row.append(...cells.map((cell) => cellNode('td', cell)));
  return row;
}

/** @param {import('../../marked.js').Tokens.TableCell[]} [cells] */
function textsOf(cells) {
  return cells && JSON.stringify(cells.map(({ text, align }) => [text, align]));
}

/** @param {Token} table */
function headOf(table) {
  return textsOf(/** @type {Table} */ (table).header);
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
