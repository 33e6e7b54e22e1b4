/**
 * @typedef {import('../../marked.js').Token} Token
 * @typedef {import('../../marked.js').Tokens.List} List
 */

/**
 * Where a long block is split in two.
 *
 * @typedef {object} Split
 * @property {number} length the number of characters of the first part
 * @property {string} prefix what must precede the second part, so that it is read as a block of the same kind
 * @property {(text: string) => string} rest the second part, from the text after the first part
 */

/** The number of characters above which a block is split: always, and if it takes long to read. */
export const MAX_BLOCK_LENGTH = 3_000;
export const MIN_BLOCK_LENGTH = 1_500;
/** The number of characters above which text that is no Markdown is split inside a line, where the split can be seen. */
const MAX_LINE_LENGTH = 32_000;
/** The number of characters at the end of a long block that stay open, because later text can change how they are read. */
const OPEN_END = 800;
/** What begins no block of another kind at the beginning of a line. */
const SAFE_START = /^(?!\d+[.)])[\p{L}\p{N}]/u;

/**
 * Splits a long block between two items, rows, lines or words.
 *
 * @param {Token} token
 * @returns {Split | undefined} `undefined` for code, which stays one block, so that its button copies all of it
 */
export function splitBlock(token) {
  const { raw, type } = token;
  switch (type) {
    case 'code':
    case 'space':
      return undefined;
    case 'table': {
      const [head = '', line = ''] = raw.split('\n', 2);
      return { length: afterLine(raw), prefix: `${head}\n${line}\n`, rest: (text) => text };
    }
    case 'list': {
      const { items, ordered, start } = /** @type {List} */ (token);
      if (items.length === 1) break;
      const length = items.slice(0, -1).reduce((sum, item) => sum + item.raw.length, 0);
      const number = Number(start) + items.length - 1;
      const rest = (/** @type {string} */ text) => (ordered ? text.replace(/^ *\d+/, `${number}`) : text);
      return { length, prefix: '', rest };
    }
    case 'plain':
      if (!raw.slice(raw.length / 2).includes('\n') && raw.length < MAX_LINE_LENGTH) return undefined;
      return { length: afterLine(raw), prefix: '', rest: (text) => text };
  }
  // White space at the beginning of a line can make it code.
  const [prefix, begin] = type === 'blockquote' ? ['> ', /^[\s>]+/] : ['', /^\s+/];
  return { length: betweenWords(token), prefix, rest: (text) => text.replace(begin, '') };
}

/** The end of the last complete line. @param {string} raw */
function afterLine(raw) {
  return notTooNear(raw, raw.lastIndexOf('\n', raw.length - 2) + 1, raw.length);
}

/** The end of a word outside of links, emphasis and the like. @param {Token} token */
function betweenWords({ raw, type, ...token }) {
  const goal = raw.length - Math.min(OPEN_END, raw.length / 4);
  const parts = (type === 'paragraph' && 'tokens' in token && token.tokens) || [{ type: 'text', raw }];
  let found = 0;
  let length = 0;
  for (const part of parts) {
    for (const { index } of part.type === 'text' || part.type === 'br' ? part.raw.matchAll(/\s/g) : []) {
      const after = length + index + 1;
      if (after <= goal && SAFE_START.test(raw.slice(after, after + 12))) found = after;
    }
    length += part.raw.length;
  }
  return notTooNear(raw, found, goal);
}

/** The place that was found, if it is not too near to the beginning. @param {string} raw @param {number} found @param {number} other */
function notTooNear(raw, found, other) {
  if (found > raw.length / 2) return found;
  // A surrogate pair must not be split.
  return /[\uD800-\uDBFF]/.test(raw.charAt(other - 1)) ? other - 1 : other;
}
