import { lexer } from '../../marked.js';

/** @typedef {import('../../marked.js').Token} Token */

/** A single line break stays a line break, as models often write one. */
const OPTIONS = { gfm: true, breaks: true };

/**
 * @param {string} text
 * @returns {Token[]}
 */
export function parseMarkdown(text) {
  try {
    return lexer(text, OPTIONS);
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
