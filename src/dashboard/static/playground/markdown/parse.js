import { Marked } from '../../marked.js';
import { FORMULAS } from './formula-syntax.js';

/** @typedef {import('../../marked.js').Token} Token */

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
