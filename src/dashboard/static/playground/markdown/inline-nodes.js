import { create } from '../elements.js';

/** @typedef {import('../../marked.js').Token} Token */

const ENTITIES = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\u00a0'],
]);

/** In emphasis and links. The browser needs a long time to lay out deep elements. */
const MAX_DEPTH = 12;

/**
 * The nodes for the text inside a block. Nodes are made only by `createElement` and `textContent`, so HTML in an answer is
 * shown as text.
 *
 * @param {readonly Token[] | undefined} tokens
 * @param {number} [depth] the number of elements around the text
 * @returns {Node[]}
 */
export function inlineNodes(tokens = [], depth = 0) {
  return tokens.map((token) => nodeOf(token, depth));
}

/**
 * @param {Token} token
 * @param {number} depth
 * @returns {Node}
 */
function nodeOf(token, depth) {
  if (depth > MAX_DEPTH) return document.createTextNode(token.raw);
  switch (token.type) {
    case 'strong':
    case 'em':
    case 'del':
      return create(token.type, '', ...inlineNodes(token.tokens, depth + 1));
    case 'codespan':
      return create('code', '', token.text);
    case 'br':
      return create('br');
    case 'link':
      return linkTo(token.href, inlineNodes(token.tokens, depth + 1));
    case 'image':
      // The page loads nothing from other hosts.
      return linkTo(token.href, [token.text === '' ? token.href : token.text]);
    case 'checkbox':
      return document.createTextNode(token.checked ? '☑ ' : '☐ ');
    case 'text':
      if (token.tokens === undefined) return document.createTextNode(decoded(token.text));
      return fragmentOf(inlineNodes(token.tokens, depth + 1));
    case 'formula':
      return formulaNode('span', /** @type {import('./formula-syntax.js').Formula} */ (token));
    case 'escape':
      return document.createTextNode(token.text);
    default:
      return document.createTextNode(token.raw);
  }
}

/**
 * The TeX of a formula, until it is drawn.
 *
 * @param {'span' | 'div'} name
 * @param {import('./formula-syntax.js').Formula} formula
 */
export function formulaNode(name, { raw, text, isDisplay }) {
  const element = create(name, isDisplay ? 'math display' : 'math', raw.trim());
  element.dir = 'ltr';
  element.dataset['tex'] = text;
  element.dataset['display'] = String(isDisplay);
  return element;
}

/** @param {Node[]} nodes */
function fragmentOf(nodes) {
  const fragment = document.createDocumentFragment();
  fragment.append(...nodes);
  return fragment;
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
