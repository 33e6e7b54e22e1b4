import { lexer } from '../../marked.js';
import { create } from '../elements.js';
import { blockNode, growBlock } from './block-nodes.js';

/** @typedef {import('../../marked.js').Token} Token */

/** A single line break stays a line break, as models often write one. */
const OPTIONS = { gfm: true, breaks: true };
/** The part of the time that the page may spend on showing text, so that the page stays responsive during a long block. */
const MOST_BUSY = 0.25;

/** Markdown that grows at its end. Only the last block is shown anew when text arrives: earlier blocks cannot change. */
export class GrowingMarkdown {
  /** @type {string[]} */
  #waiting = [];
  /** The text from the beginning of the last block. */
  #open = '';
  /** @type {{ token: Token, element: HTMLElement | undefined }[]} */
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
    const text = this.#open.replaceAll('\r\n', '\n').replaceAll(/\r(?!$)/g, '\n');
    const tokens = tokensOf(text);
    const shown = this.#unchanged(tokens);
    for (const { element } of this.#shown.slice(shown.length)) element?.remove();
    for (const token of tokens.slice(shown.length)) {
      const element = blockNode(token);
      if (element !== undefined) this.parent.append(element);
      shown.push({ token, element });
    }
    // The blocks before the last one are settled. Blank lines after the last one can still belong to it.
    const settled = Math.max(
      0,
      tokens.findLastIndex(({ type }) => type !== 'space'),
    );
    this.#open = text.slice(tokens.slice(0, settled).reduce((length, { raw }) => length + raw.length, 0));
    this.#shown = shown.slice(settled);
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
    return growBlock(last.element, last.token, token) ? [...stay, { token, element: last.element }] : stay;
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
 * Shows a text as it is.
 *
 * @param {HTMLElement} parent
 * @param {string} text
 */
export function showPlain(parent, text) {
  const plain = create('div', 'plain', text);
  plain.dir = 'auto';
  parent.append(plain);
}
