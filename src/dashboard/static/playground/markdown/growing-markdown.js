import { lexer } from '../../marked.js';
import { blockNode, growBlock } from './block-nodes.js';
import { partsOf } from './block-parts.js';
import { LONG_BLOCK, settleBeginning, withoutWord } from './long-block.js';

/** @typedef {import('../../marked.js').Token} Token */

/**
 * A block on the page. The first parts of a long block are settled: `token` has the parts after them.
 *
 * @typedef {object} ShownBlock
 * @property {Token} token
 * @property {HTMLElement | undefined} element
 * @property {number} settled
 */

/** A single line break stays a line break, as models often write one. */
const OPTIONS = { gfm: true, breaks: true };
/** The beginning of an item whose text is missing. */
const MARKER = /^ {0,3}(?:[-+*]|\d{1,9}[.)]?)$/;
/** The part of the time that the page may spend on showing text, so that the page stays responsive during a long block. */
const MOST_BUSY = 0.25;

/** Markdown that grows at its end. Only the last block is shown anew when text arrives: earlier blocks cannot change. */
export class GrowingMarkdown {
  /** @type {string[]} */
  #waiting = [];
  /** The text from the beginning of the last block, or from the end of its settled parts. */
  #open = '';
  /** What must precede the open text, so that it is read as the rest of the last block. */
  #prefix = '';
  /** @type {ShownBlock[]} */
  #shown = [];
  #isScheduled = false;
  #notBefore = 0;

  /**
   * @param {HTMLElement} parent
   * @param {() => void} whenShown called each time the shown text has grown.
   */
  constructor(parent, whenShown) {
    this.parent = parent;
    this.whenShown = whenShown;
  }

  /** @param {string} text */
  add(text) {
    this.#waiting.push(text);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#schedule();
  }

  #schedule() {
    const waitMs = this.#notBefore - performance.now();
    // Browsers draw no frames for a page in the background.
    if (waitMs > 0 || document.hidden) setTimeout(() => this.flush(), Math.max(0, waitMs));
    else requestAnimationFrame(() => this.flush());
  }

  /** Shows all waiting text now. */
  flush() {
    this.#isScheduled = false;
    if (this.#waiting.length === 0) return;
    const begunAt = performance.now();
    this.#open += this.#waiting.join('');
    this.#waiting = [];
    this.#show();
    const tookMs = performance.now() - begunAt;
    this.#notBefore = begunAt + tookMs / MOST_BUSY;
    this.whenShown();
  }

  #show() {
    // The second half of a line break may still be missing.
    const text = this.#prefix + this.#open.replaceAll('\r\n', '\n').replaceAll(/\r(?!$)/g, '\n');
    const tokens = tokensOf(text);
    if (this.#prefix !== '' && tokens[0] !== undefined) withoutWord(tokens[0]);
    const shown = this.#unchanged(tokens);
    for (const block of this.#shown.slice(shown.length)) remove(block);
    for (const token of tokens.slice(shown.length)) {
      const element = blockNode(token);
      if (element !== undefined) this.parent.append(element);
      shown.push({ token, element, settled: 0 });
    }
    // The blocks before the last one are settled. Blank lines after the last one can still belong to it.
    const settled = indexOfOpen(tokens);
    if (settled > 0) this.#prefix = '';
    const before = tokens.slice(0, settled).reduce((length, { raw }) => length + raw.length, this.#prefix.length);
    this.#open = text.slice(before);
    this.#shown = shown.slice(settled);
    if (this.#open.length > LONG_BLOCK) this.#shorten();
  }

  /** Settles the beginning of the last block, so that the next text does not cost more than this one. */
  #shorten() {
    const [last, ...spaces] = this.#shown;
    if (last?.element === undefined) return;
    const part = settleBeginning(last.element, last.token, last.settled);
    if (part === undefined) return;
    this.#open = (this.#prefix + this.#open).slice(part.length);
    this.#prefix = part.prefix;
    const rest = { ...last.token, raw: '', tokens: [], items: [], rows: [] };
    this.#shown = [{ ...last, token: rest, settled: part.parts }, ...spaces];
    this.#show();
  }

  /**
   * The shown blocks that stay. The last of them may have grown.
   *
   * @param {Token[]} tokens
   */
  #unchanged(tokens) {
    const same = this.#shown.findIndex(({ token }, index) => token.raw !== tokens[index]?.raw);
    if (same === -1) return [...this.#shown];
    const stay = this.#shown.slice(0, same);
    const last = this.#shown[same];
    const token = tokens[same];
    if (last?.element === undefined || token === undefined) return stay;
    return growBlock(last.element, last.token, token, last.settled) ? [...stay, { ...last, token }] : stay;
  }
}

/**
 * @param {string} text
 * @returns {Token[]}
 */
function tokensOf(text) {
  try {
    return lexer(text, OPTIONS);
  } catch {
    return [{ type: 'text', raw: text, text }];
  }
}

/**
 * The index of the first block that later text can change: the last block, or the list before it if the last block can become
 * an item of this list.
 *
 * @param {Token[]} tokens
 */
function indexOfOpen(tokens) {
  const contents = [...tokens.keys()].filter((index) => tokens[index]?.type !== 'space');
  const [last = 0, before = 0] = contents.reverse();
  return tokens[before]?.type === 'list' && MARKER.test(tokens[last]?.raw ?? '') ? before : last;
}

/** Removes a block from the page, except for its settled parts. @param {ShownBlock} block */
function remove({ element, settled }) {
  if (element === undefined) return;
  if (settled === 0) element.remove();
  else for (const part of partsOf(element).parts.slice(settled)) part.remove();
}
