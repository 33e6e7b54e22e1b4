import { Marked } from '../../marked.js';

/** @typedef {import('../../marked.js').Token} Token */

/**
 * Formulas in TeX, as models write them: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`.
 *
 * @typedef {object} Formula
 * @property {'formula'} type
 * @property {string} raw
 * @property {string} text the TeX between the delimiters
 * @property {boolean} isDisplay whether the formula has a line of its own
 */

/** A formula in its own lines. It stays open until its end or a blank line arrives, because its lines can look like Markdown. */
const BLOCK =
  /^ {0,3}(?:\$\$((?:[^$\n]|\n(?!\s*\n)){1,5000})(?:\$\$|$)|\\\[((?:[^\n]|\n(?!\s*\n)){1,5000}?)(?:\\\]|$))[ \t]*(?:\n+|$)/;
/** Inside a line. A dollar of an amount of money has a space before the next dollar, or a digit after it. */
const INLINE =
  /^(?:\$\$([^$\n]{1,1000})\$\$|\$(?![\s$])((?:[^$\\\n]|\\.){1,500})(?<!\s)\$(?!\d)|\\\((.{1,500}?)\\\)|\\\[(.{1,1000}?)\\\])/;

/** @type {import('../../marked.js').TokenizerExtension[]} */
const FORMULAS = [
  {
    name: 'formula',
    level: 'block',
    start: (source) => startOf(/^ {0,3}(?:\$\$|\\\[)/m, source),
    tokenizer: (source) => formula(BLOCK.exec(source), true),
  },
  {
    name: 'inlineFormula',
    level: 'inline',
    start: (source) => startOf(/\$|\\[([]/, source),
    tokenizer: (source) => formula(INLINE.exec(source), false),
  },
];

/** @param {RegExp} pattern @param {string} source */
function startOf(pattern, source) {
  const index = source.search(pattern);
  return index === -1 ? undefined : index;
}

/**
 * @param {RegExpExecArray | null} match
 * @param {boolean} isBlock
 * @returns {Formula | undefined}
 */
function formula(match, isBlock) {
  if (match === null) return undefined;
  const [raw, dollars, ...others] = match;
  const text = [dollars, ...others].find((part) => part !== undefined) ?? '';
  return {
    type: 'formula',
    raw,
    text: text.trim(),
    isDisplay: isBlock || raw.startsWith('$$') || raw.startsWith('\\['),
  };
}

/** A single line break stays a line break, as models often write one. */
const MARKED = new Marked({ gfm: true, breaks: true, extensions: FORMULAS });

/**
 * @param {string} text
 * @returns {Token[]}
 */
export function parseMarkdown(text) {
  try {
    return MARKED.lexer(text);
  } catch {
    // The parser has a limit for nested blocks.
    return parsePlain(text);
  }
}

/**
 * @param {string} text
 * @returns {Token[]}
 */
export function parsePlain(text) {
  return text === '' ? [] : [{ type: 'plain', raw: text }];
}
