import { inlineNodes } from './inline-nodes.js';
import { partsOf } from './block-parts.js';

/**
 * @typedef {import('../../marked.js').Token} Token
 * @typedef {import('../../marked.js').Tokens.List} List
 * @typedef {import('../../marked.js').Tokens.Table} Table
 */

/**
 * The beginning of a long block, which is not read again.
 *
 * @typedef {object} SettledPart
 * @property {number} length the number of characters of the block that are settled
 * @property {string} prefix what must precede the rest of the block, so that the rest is read as a block of the same kind
 * @property {number} parts the number of parts of the element that are settled
 */

/** The number of characters above which a block is split. Without the split, each new text would cost more than the last. */
export const LONG_BLOCK = 6_000;
/** The number of characters at the end of a long block that stay open, because later text can change how they are read. */
const OPEN_END = 2_000;
const OPEN_ROWS = 4;
/** A word at the beginning keeps the rest of a paragraph from being read as a list or a heading. It is not shown. */
const WORD = 'x ';

/**
 * Settles the beginning of a long block.
 *
 * @param {HTMLElement} element
 * @param {Token} token
 * @param {number} before the number of parts that are settled already
 * @returns {SettledPart | undefined} `undefined` if the block cannot be split
 */
export function settleBeginning(element, token, before) {
  switch (token.type) {
    case 'paragraph':
      return settleParagraph(element, token, before);
    case 'list':
      return settleList(/** @type {List} */ (token), before);
    case 'table':
      return settleTable(/** @type {Table} */ (token), before);
    default:
      return undefined;
  }
}

/** Removes the word that keeps the rest of a paragraph a paragraph. @param {Token} token */
export function withoutWord(token) {
  const first = 'tokens' in token ? token.tokens?.[0] : undefined;
  if (first?.type === 'text' && first.text.startsWith(WORD)) first.text = first.text.slice(WORD.length);
  return token;
}

/**
 * @param {HTMLElement} element
 * @param {Token} token
 * @param {number} before
 * @returns {SettledPart | undefined}
 */
function settleParagraph(element, token, before) {
  const goal = token.raw.length - OPEN_END;
  /** @type {Token[]} */
  const head = [];
  let length = 0;
  for (const inline of 'tokens' in token ? (token.tokens ?? []) : []) {
    if (length + inline.raw.length > goal) {
      const text = inline.type === 'text' ? inline.text : '';
      const space = text.lastIndexOf(' ', goal - length);
      if (space > 0) {
        head.push({ ...inline, text: text.slice(0, space + 1) });
        length += inline.raw.length - text.length + space + 1;
      }
      break;
    }
    head.push(inline);
    length += inline.raw.length;
  }
  if (length <= WORD.length) return undefined;
  const { parent, parts } = partsOf(element);
  for (const part of parts.slice(before)) part.remove();
  parent.append(...inlineNodes(head));
  return { length, prefix: WORD, parts: parent.childNodes.length };
}

/**
 * @param {List} list
 * @param {number} before
 * @returns {SettledPart | undefined}
 */
function settleList({ raw, items }, before) {
  const lengths = items.map((item) => item.raw.length);
  let length = 0;
  let count = 0;
  while (count < items.length - 1 && length + (lengths[count] ?? 0) <= raw.length - OPEN_END) {
    length += lengths[count] ?? 0;
    count += 1;
  }
  return count === 0 ? undefined : { length, prefix: '', parts: before + count };
}

/**
 * @param {Table} table
 * @param {number} before
 * @returns {SettledPart | undefined}
 */
function settleTable({ raw, rows }, before) {
  const count = rows.length - OPEN_ROWS;
  const lines = raw.split('\n');
  const prefix = `${lines.slice(0, 2).join('\n')}\n`;
  const settled = lines.slice(0, 2 + count).join('\n').length + 1;
  return count <= 0 ? undefined : { length: settled, prefix, parts: before + count };
}
