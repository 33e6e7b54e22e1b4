import { copy } from '../../copy.js';
import { button, create } from '../elements.js';

/**
 * @typedef {import('../../marked.js').Token} Token
 * @typedef {import('../../marked.js').Tokens.Table} Table
 */

/** The browser needs a long time to lay out deep elements. */
const MAX_DEPTH = 24;
/** The browser lays out a whole piece of code again when the piece changes. In characters; a piece ends with a line if it can. */
const CODE_PIECE = 4_000;
const MAX_CODE_PIECE = 32_000;
/** Letters of Hebrew, Arabic and other scripts. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\ud802\ud803\ud83a\ud83b]/;
const ENTITIES = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }));

/**
 * The nodes for the tokens of the parser. Nodes are made only by `createElement` and as text, so HTML in an answer is shown as text.
 *
 * @param {readonly Token[]} [tokens]
 * @param {number} [depth] the number of elements around them
 * @returns {Node[]}
 */
export function tokenNodes(tokens = [], depth = 0) {
  return tokens.filter(hasNode).map((token) => tokenNode(token, depth));
}

/** @param {Token} token */
export function hasNode({ type }) {
  return type !== 'space' && type !== 'def';
}

/**
 * @param {Token} token
 * @param {number} depth
 * @returns {Node}
 */
function tokenNode(token, depth) {
  const { type, raw } = token;
  if (depth > MAX_DEPTH) return document.createTextNode(raw);
  /** @returns {Node[]} */
  const inside = () => tokenNodes('tokens' in token ? token.tokens : [], depth + 1);
  // Each block finds its own writing direction, which costs the browser more than the layout of the block.
  const dir = RIGHT_TO_LEFT.test(raw) ? 'auto' : '';
  switch (type) {
    case 'paragraph':
    case 'blockquote':
      return create(type === 'paragraph' ? 'p' : type, { dir }, ...inside());
    case 'heading':
      // The page has one level of headings above the answers, and one for the speaker.
      return create(/** @type {'h3'} */ (`h${Math.min(6, token.depth + 2)}`), { dir }, ...inside());
    case 'list': {
      const list = create(token.ordered ? 'ol' : 'ul', { dir }, ...tokenNodes(token.items, depth + 1));
      if (list instanceof HTMLOListElement && typeof token.start === 'number') list.start = token.start;
      return list;
    }
    case 'list_item':
      return create('li', { dir, className: token.task ? 'task' : '' }, ...inside());
    case 'table':
      return tableNode(/** @type {Table} */ (token), depth);
    case 'code':
      return codeNode(token.text, token.lang);
    case 'formula':
      return formulaNode(/** @type {import('./parse.js').Formula} */ (token));
    case 'strong':
    case 'em':
    case 'del':
      return create(type, '', ...inside());
    case 'codespan':
      return create('code', '', token.text);
    case 'hr':
    case 'br':
      return create(type);
    case 'link':
      return linkTo(token.href, inside());
    case 'image':
      // The page loads nothing from other hosts.
      return linkTo(token.href, [token.text === '' ? token.href : token.text]);
    case 'checkbox':
      return document.createTextNode(token.checked ? '☑ ' : '☐ ');
    case 'text': {
      if (token.tokens === undefined) return document.createTextNode(decoded(token.text));
      if (depth === 0) return create('p', { dir }, ...inside());
      const fragment = document.createDocumentFragment();
      fragment.append(...inside());
      return fragment;
    }
    case 'escape':
      return document.createTextNode(token.text);
    case 'plain':
      return create('div', { className: 'plain', dir }, raw);
    default:
      // HTML: a block of it, or a tag inside a line.
      return 'block' in token && token.block ? create('p', 'plain', raw.trimEnd()) : document.createTextNode(raw);
  }
}

/** @param {string} text @param {string} [info] what follows the opening fence */
function codeNode(text, info = '') {
  const language = info.split(/\s/, 1)[0] ?? '';
  const status = create('span', { role: 'status' });
  const copyButton = button('Copy', () => void copy(code, status));
  copyButton.ariaLabel = language === '' ? 'Copy code' : `Copy ${language} code`;
  const code = create('code');
  if (language !== '') code.dataset['language'] = language.toLowerCase();
  for (let start = 0, end; start < text.length; start = end) {
    const lineEnd = text.indexOf('\n', start + CODE_PIECE) + 1 || text.length;
    end = Math.min(lineEnd, start + MAX_CODE_PIECE);
    code.append(create('span', 'piece', text.slice(start, end)));
  }
  const head = create('div', 'code-head', create('span', 'language', language), status, copyButton);
  return create('div', 'code-block', head, create('pre', { tabIndex: 0 }, code));
}

/** @param {Table} table @param {number} depth */
function tableNode({ header, rows }, depth) {
  /** @param {'th' | 'td'} name @param {Table['header']} cells */
  const row = (name, cells) =>
    create(
      'tr',
      '',
      ...cells.map(({ text, tokens, align }) =>
        create(
          name,
          { dir: RIGHT_TO_LEFT.test(text) ? 'auto' : '', className: align === null ? '' : `align-${align}` },
          ...tokenNodes(tokens, depth + 1),
        ),
      ),
    );
  const body = create('tbody', '', ...rows.map((cells) => row('td', cells)));
  const table = create('table', '', create('thead', '', row('th', header)), body);
  return create('div', { className: 'table', tabIndex: 0, role: 'region', ariaLabel: 'Table' }, table);
}

/** The TeX of a formula, until it is drawn. @param {import('./parse.js').Formula} formula */
function formulaNode({ raw, text, isDisplay }) {
  const element = create('span', { className: isDisplay ? 'math display' : 'math', dir: 'ltr' }, raw.trim());
  element.dataset['tex'] = text;
  element.dataset['display'] = String(isDisplay);
  return element;
}

/**
 * A link, if the address is one of the web. All other addresses stay text.
 *
 * @param {string} href
 * @param {(Node | string)[]} content
 */
function linkTo(href, content) {
  const url = URL.canParse(href) ? new URL(href) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) return create('span', '', ...content);
  return create('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer' }, ...content);
}

/** Replaces the usual character references of HTML. @param {string} text */
function decoded(text) {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES.get(name) ?? all;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
