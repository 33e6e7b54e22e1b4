import { copy } from '../../copy.js';
import { button, create } from '../elements.js';
import { formulaNode, inlineNodes } from './inline-nodes.js';

/**
 * @typedef {import('../../marked.js').Token} Token
 * @typedef {import('../../marked.js').Tokens.List} List
 * @typedef {import('../../marked.js').Tokens.ListItem} ListItem
 * @typedef {import('../../marked.js').Tokens.Code} Code
 * @typedef {import('../../marked.js').Tokens.Table} Table
 */

/** In lists and quotations. The browser needs a long time to lay out deep elements. */
const MAX_DEPTH = 12;
/**
 * The browser lays out a whole piece of code again when the piece changes. A piece ends at the next line break after this number
 * of characters, and inside a line only at the maximum.
 */
const CODE_PIECE = 4_000;
const MAX_CODE_PIECE = 32_000;

/**
 * The elements of the blocks of an answer. A block without content has none.
 *
 * @param {readonly Token[] | undefined} tokens
 * @param {number} [depth] the number of lists and quotations around the blocks
 * @returns {HTMLElement[]}
 */
export function blockNodes(tokens = [], depth = 0) {
  return tokens.filter(hasContent).map((token) => blockNode(token, depth));
}

/** @param {Token} token */
export function hasContent({ type }) {
  return type !== 'space' && type !== 'def';
}

/**
 * Each block finds its own writing direction.
 *
 * @param {Token} token
 * @param {number} depth
 */
function blockNode(token, depth) {
  if (depth > MAX_DEPTH) return withDirection(create('p', 'plain', token.raw.trimEnd()));
  switch (token.type) {
    case 'heading':
      // The page has two levels of headings above the answers, and one for the speaker.
      return block(/** @type {'h4' | 'h5' | 'h6'} */ (`h${Math.min(6, token.depth + 3)}`), token.tokens);
    case 'hr':
      return create('hr');
    case 'code':
      return codeNode(/** @type {Code} */ (token));
    case 'blockquote':
      return withDirection(create('blockquote', '', ...blockNodes(token.tokens, depth + 1)));
    case 'list':
      return listNode(/** @type {List} */ (token), depth);
    case 'table':
      return tableNode(/** @type {Table} */ (token));
    case 'formula':
      return formulaNode('div', /** @type {import('./formula-syntax.js').Formula} */ (token));
    case 'plain':
      return create('div', 'plain', token.raw);
    case 'html':
      return withDirection(create('p', 'plain', token.raw.trimEnd()));
    default:
      return block('p', 'tokens' in token ? token.tokens : [token]);
  }
}

/** @param {List} list @param {number} depth */
function listNode(list, depth) {
  const element = create(list.ordered ? 'ol' : 'ul', '', ...list.items.map((item) => itemNode(item, depth)));
  if (element instanceof HTMLOListElement && typeof list.start === 'number') element.start = list.start;
  return withDirection(element);
}

/** @param {ListItem} item @param {number} depth */
function itemNode(item, depth) {
  const nodes = item.tokens.flatMap((token) => {
    // The text of an item in a list without blank lines is not a paragraph.
    if (token.type === 'text' || token.type === 'checkbox') return inlineNodes([token]);
    return blockNodes([token], depth + 1);
  });
  return withDirection(create('li', item.task ? 'task' : '', ...nodes));
}

/** @param {Code} token */
function codeNode({ text, lang = '' }) {
  const language = lang.split(/\s/, 1)[0] ?? '';
  const status = create('span', { role: 'status' });
  const copyButton = button('Copy', () => void copy(code, status));
  copyButton.ariaLabel = language === '' ? 'Copy code' : `Copy ${language} code`;
  const code = create('code', '', ...piecesOf(text));
  if (language !== '') code.dataset['language'] = language.toLowerCase();
  return create(
    'div',
    'code-block',
    create('div', 'code-head', create('span', 'language', language), status, copyButton),
    create('pre', { tabIndex: 0 }, code),
  );
}

/** @param {string} text */
function piecesOf(text) {
  const pieces = [];
  for (let start = 0, end; start < text.length; start = end) {
    const lineEnd = text.indexOf('\n', start + CODE_PIECE) + 1 || text.length;
    end = Math.min(lineEnd, start + MAX_CODE_PIECE);
    pieces.push(create('span', 'piece', text.slice(start, end)));
  }
  return pieces;
}

/** @param {Table} table */
function tableNode(table) {
  const element = create(
    'table',
    '',
    create('thead', '', create('tr', '', ...table.header.map((cell) => cellNode('th', cell)))),
    create('tbody', '', ...table.rows.map((row) => create('tr', '', ...row.map((cell) => cellNode('td', cell))))),
  );
  return create('div', { className: 'table', tabIndex: 0, role: 'region', ariaLabel: 'Table' }, element);
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
  return withDirection(create(name, '', ...inlineNodes(tokens)));
}

/**
 * @template {HTMLElement} T
 * @param {T} element
 */
function withDirection(element) {
  element.dir = 'auto';
  return element;
}
