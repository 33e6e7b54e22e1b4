import { blockNodes, hasContent } from './block-nodes.js';
import { MAX_BLOCK_LENGTH, MIN_BLOCK_LENGTH, splitBlock } from './split-block.js';
import { create } from '../elements.js';
import { updateChildren } from './update-children.js';

/** @typedef {import('../../marked.js').Token} Token */

/** The time in milliseconds that a step may take, so that the page responds while a long answer is shown. */
const STEP_MS = 8;
/** A block that takes longer to read is split at {@link MIN_BLOCK_LENGTH}. In milliseconds. */
const SLOW_MS = 12;
/** The number of blocks that the browser lays out together. */
const GROUP_SIZE = 50;
/** The number of characters that are added at once. The step ends between two slices. */
const SLICE_LENGTH = 1_000;
/** The beginning of an item whose text is missing. */
const MARKER = /^ {0,3}(?:[-+*]|\d{1,9}[.)]?)$/;

/** The texts that are not shown yet. @type {Set<GrowingText>} */
const waiting = new Set();
let isScheduled = false;

function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  // Browsers draw no frames for a page in the background.
  if (document.hidden) setTimeout(step);
  else requestAnimationFrame(step);
}

/** Shows waiting text until the time of the step is over. The next step shows the rest. */
function step() {
  isScheduled = false;
  const end = performance.now() + STEP_MS;
  for (const text of waiting) {
    if (text.showUntil(end)) waiting.delete(text);
    if (performance.now() >= end) break;
  }
  if (waiting.size > 0) schedule();
}

/**
 * Text that grows at its end. Only the last block changes when text arrives: earlier blocks are complete. A block that becomes
 * too long continues in a new block, so that no step reads or lays out more than a few thousand characters.
 */
export class GrowingText {
  #waiting = '';
  /** The text of the last block. */
  #open = '';
  /** What must precede the open text, so that it is read as the rest of a split block. */
  #prefix = '';
  /** The elements of the open text. @type {HTMLElement[]} */
  #shown = [];
  /** The last blocks. */
  #group = create('div', 'blocks');

  /**
   * @param {HTMLElement} parent
   * @param {(text: string) => Token[]} parse
   * @param {() => void} whenShown called each time the shown text has grown.
   */
  constructor(parent, parse, whenShown) {
    this.parent = parent;
    this.parse = parse;
    this.whenShown = whenShown;
    parent.append(this.#group);
  }

  /** @param {string} text */
  add(text) {
    this.#waiting += text;
    waiting.add(this);
    schedule();
  }

  /** Shows no more text. */
  stop() {
    waiting.delete(this);
  }

  /**
   * Shows waiting text until a time.
   *
   * @param {number} end
   * @returns {boolean} whether all text is shown
   */
  showUntil(end) {
    do {
      this.#show(this.#waiting.slice(0, SLICE_LENGTH));
      this.#waiting = this.#waiting.slice(SLICE_LENGTH);
    } while (this.#waiting !== '' && performance.now() < end);
    this.whenShown();
    return this.#waiting === '';
  }

  /** @param {string} slice */
  #show(slice) {
    // The second half of a line break may still be missing.
    this.#open = (this.#open + slice).replaceAll('\r\n', '\n').replaceAll(/\r(?!$)/g, '\n');
    const begin = performance.now();
    const tokens = this.#read();
    const isSlow = performance.now() - begin > SLOW_MS;
    const complete = indexOfOpen(tokens);
    if (complete > 0) {
      const before = tokens.slice(0, complete);
      const length = before.reduce((sum, { raw }) => sum + raw.length, 0);
      this.#open = this.#open.slice(length - this.#prefix.length);
      this.#prefix = '';
      this.#shown = this.#shown.slice(before.filter(hasContent).length);
      if (this.#group.childElementCount > GROUP_SIZE) this.#beginGroup();
    }
    const last = tokens[complete];
    if (last !== undefined && last.raw.length > (isSlow ? MIN_BLOCK_LENGTH : MAX_BLOCK_LENGTH)) this.#split(last);
  }

  #beginGroup() {
    this.#group = create('div', 'blocks');
    this.#group.append(...this.#shown);
    this.parent.append(this.#group);
  }

  /** Reads the open text, and updates its elements. */
  #read() {
    const tokens = this.parse(this.#prefix + this.#open);
    this.#shown = updateChildren(this.#group, this.#shown, blockNodes(tokens));
    return tokens;
  }

  /** Completes the beginning of the open block, so that the rest is a block of its own. @param {Token} token */
  #split(token) {
    const split = splitBlock(token);
    if (split === undefined) return;
    const length = split.length - this.#prefix.length;
    const rest = split.rest(this.#open.slice(length));
    this.#open = this.#open.slice(0, length);
    this.#read();
    this.#shown.at(-1)?.classList.add('continues');
    this.#shown = [];
    this.#open = rest;
    this.#prefix = split.prefix;
    this.#read();
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
