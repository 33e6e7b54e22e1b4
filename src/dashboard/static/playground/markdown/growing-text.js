import { blockNodes, hasContent } from './block-nodes.js';
import { finishBlocks } from './finished-blocks.js';
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
/** The time in milliseconds that a step and its layout may take. A longer frame halves the characters of the next step. */
const FRAME_MS = 24;
const MIN_STEP_LENGTH = 50;
const MAX_STEP_LENGTH = 32_000;
/** The beginning of an item whose text is missing. */
const MARKER = /^ {0,3}(?:[-+*]|\d{1,9}[.)]?)$/;

/** The texts that are not shown yet. @type {Set<GrowingText>} */
const waiting = new Set();
let isScheduled = false;
/** The number of characters that the next step may add. Short blocks and code take long to lay out. */
let stepLength = SLICE_LENGTH;

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
  const begin = performance.now();
  const end = begin + STEP_MS;
  for (const text of waiting) {
    if (text.showUntil(end, stepLength)) waiting.delete(text);
    if (performance.now() >= end) break;
  }
  // The browser lays out the page after this function and before the next task.
  setTimeout(() => {
    const isSlow = performance.now() - begin > FRAME_MS;
    stepLength = isSlow ? Math.max(MIN_STEP_LENGTH, stepLength / 2) : Math.min(MAX_STEP_LENGTH, stepLength * 1.5);
    if (waiting.size > 0) schedule();
  });
}

/**
 * Text that grows at its end. Only the last block changes when text arrives: earlier blocks are complete. A block that becomes
 * too long continues in a new block, so that no step reads or lays out more than a few thousand characters. Without this, a step
 * takes 200 to 900 ms in Chromium when the last block is a list, a table or a paragraph of 200 KB, and 50 ms is the limit.
 */
export class GrowingText {
  #waiting = '';
  /** The text of the last block. */
  #open = '';
  /** What must precede the open text, so that it is read as the rest of a split block. */
  #prefix = '';
  /** The elements of the open text. @type {HTMLElement[]} */
  #shown = [];
  /** Whether no more text arrives. */
  #isFinished = false;
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

  /** Completes the last block when all text is shown. Call this when no more text arrives. */
  finish() {
    this.#isFinished = true;
    if (this.#waiting === '') this.#finishShown(this.#shown.length);
  }

  /** Shows no more text. */
  stop() {
    waiting.delete(this);
  }

  /**
   * Shows waiting text until a time.
   *
   * @param {number} end
   * @param {number} [maxLength] the number of characters that may be shown
   * @returns {boolean} whether all text is shown
   */
  showUntil(end, maxLength = SLICE_LENGTH) {
    let left = Math.floor(maxLength);
    do {
      const length = Math.min(SLICE_LENGTH, left);
      this.#show(this.#waiting.slice(0, length));
      this.#waiting = this.#waiting.slice(length);
      left -= length;
    } while (this.#waiting !== '' && left > 0 && performance.now() < end);
    if (this.#waiting === '' && this.#isFinished) this.#finishShown(this.#shown.length);
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
      this.#finishShown(before.filter(hasContent).length);
      if (this.#group.childElementCount > GROUP_SIZE) this.#beginGroup();
    }
    const last = tokens[complete];
    if (last !== undefined && last.raw.length > (isSlow ? MIN_BLOCK_LENGTH : MAX_BLOCK_LENGTH)) this.#split(last);
  }

  /** Later text cannot change these elements of the open text. @param {number} count */
  #finishShown(count) {
    finishBlocks(this.#shown.slice(0, count));
    this.#shown = this.#shown.slice(count);
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
    this.#finishShown(this.#shown.length);
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
