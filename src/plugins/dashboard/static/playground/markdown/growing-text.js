import { create } from '../elements.js';
import { finishBlocks } from './finished-blocks.js';
import { hasNode, tokenNodes } from './token-nodes.js';

/** @typedef {import('../../marked.js').Token} Token */

/** The time in milliseconds that a step may take. The browser lays out what it has added in another task. */
const STEP_MS = 12;
const ATTACH_EVERY_MS = 200;
/** The number of characters that the parser gets at once, and above which a block continues in a new one. */
const SLICE_LENGTH = 2_000;
const MAX_BLOCK_LENGTH = 3_000;
/** The number of characters above which a line is split, where the split can be seen. */
const MAX_LINE_LENGTH = 16_000;
/** The number of characters that the browser lays out together. It leaves out a group that is far from what the user sees. */
const GROUP_LENGTH = 2_000;
/** The last block is an item of the list before it, once its text has arrived. */
const MARKER = /^ {0,3}(?:[-+*]|\d{1,9}[.)]?)$/;

/**
 * Text that grows at its end. The library parses only the end of the text again when more arrives: earlier blocks are complete.
 * A block that becomes too long continues in a new block, so that a step does not grow with the length of the block.
 */
export class GrowingText {
  #waiting = '';
  /** The text of the last block. */
  #open = '';
  /** What must precede the open text, so that it is read as the rest of a split table. */
  #prefix = '';
  /** The elements of the open text. @type {ChildNode[]} */
  #shown = [];
  #group = create('div', 'blocks');
  #groupLength = 0;
  /** Groups that are not on the page yet: while much text is waiting, the browser lays out the page only now and then. */
  #later = document.createDocumentFragment();
  #attachedAt = 0;
  #isScheduled = false;
  #isStopped = false;
  #isFinished = false;
  /** @type {() => void} */
  #resolve = () => undefined;
  /** Resolves when all text is shown, and no more arrives. @type {Promise<void>} */
  #allShown = new Promise((resolve) => (this.#resolve = resolve));

  /**
   * @param {HTMLElement} parent
   * @param {(text: string) => Token[]} parse
   */
  constructor(parent, parse) {
    this.parent = parent;
    this.parse = parse;
    parent.append(this.#group);
  }

  /** @param {string} text */
  add(text) {
    this.#waiting += text;
    this.#schedule();
  }

  /** Completes the last block. Call this when no more text arrives. Resolves when all text is shown. */
  finish() {
    this.#isFinished = true;
    if (this.#waiting === '') this.#end();
    return this.#allShown;
  }

  /** Shows no more text. */
  stop() {
    this.#isStopped = true;
    this.#resolve();
  }

  #end() {
    this.#complete(this.#shown.length);
    this.#resolve();
  }

  #schedule() {
    if (this.#isScheduled || this.#isStopped) return;
    this.#isScheduled = true;
    setTimeout(() => this.#step());
  }

  #step() {
    this.#isScheduled = false;
    if (this.#isStopped) return;
    // Nobody waits for a page in the background, and its timers run once a second.
    const end = document.hidden ? Infinity : performance.now() + STEP_MS;
    do {
      this.#show(this.#waiting.slice(0, SLICE_LENGTH));
      this.#waiting = this.#waiting.slice(SLICE_LENGTH);
    } while (this.#waiting !== '' && performance.now() < end);
    if (this.#waiting === '' || performance.now() - this.#attachedAt > ATTACH_EVERY_MS) {
      this.parent.append(this.#later);
      this.#attachedAt = performance.now();
    }
    if (this.#waiting !== '') this.#schedule();
    else if (this.#isFinished) this.#end();
  }

  /** @param {string} slice */
  #show(slice) {
    // The second half of a line break may still be missing.
    this.#open = (this.#open + slice).replaceAll('\r\n', '\n').replaceAll(/\r(?!$)/g, '\n');
    const tokens = this.#read();
    const openFrom = indexOfOpen(tokens);
    if (openFrom > 0) {
      const before = tokens.slice(0, openFrom);
      const length = before.reduce((sum, { raw }) => sum + raw.length, 0);
      this.#open = this.#open.slice(length - this.#prefix.length);
      this.#prefix = '';
      this.#complete(before.filter(hasNode).length);
      this.#groupLength += length;
      if (this.#groupLength > GROUP_LENGTH) this.#beginGroup();
    }
    const last = tokens[openFrom];
    if (last !== undefined && last.type !== 'code' && last.raw.length > MAX_BLOCK_LENGTH) this.#split(last);
  }

  /** Reads the open text, and updates its elements. */
  #read() {
    const tokens = this.parse(this.#prefix + this.#open);
    this.#shown = updated(this.#group, this.#shown, /** @type {ChildNode[]} */ (tokenNodes(tokens)));
    return tokens;
  }

  /** Later text cannot change these elements of the open text. @param {number} count */
  #complete(count) {
    finishBlocks(this.#shown.slice(0, count).filter((node) => node instanceof HTMLElement));
    this.#shown = this.#shown.slice(count);
  }

  #beginGroup() {
    this.#groupLength = 0;
    this.#group = create('div', 'blocks');
    this.#group.append(...this.#shown);
    this.#later.append(this.#group);
  }

  /** Completes the beginning of the open block, so that the rest is a block of its own. @param {Token} token */
  #split(token) {
    const at = splitIndex(token);
    if (at === undefined) return;
    const rest = this.#open.slice(at - this.#prefix.length);
    this.#open = this.#open.slice(0, at - this.#prefix.length);
    this.#read();
    /** @type {Element} */ (this.#shown.at(-1))?.classList.add('continues');
    this.#complete(this.#shown.length);
    this.#beginGroup();
    const isTable = token.type === 'table';
    this.#prefix = isTable ? `${token.raw.split('\n', 2).join('\n')}\n` : '';
    // White space at the beginning would make it code.
    this.#open = isTable ? rest : rest.trimStart();
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

/**
 * Where a long block can be split: before its last item, line or word.
 *
 * @param {Token} token
 */
function splitIndex(token) {
  const { raw, type } = token;
  if (type === 'space') return undefined;
  if (type === 'list' && token.items.length > 1) return raw.length - token.items.at(-1).raw.length;
  const line = raw.lastIndexOf('\n', raw.length - 2) + 1;
  if (line > raw.length / 2) return line;
  if (type === 'table' || (type === 'plain' && raw.length < MAX_LINE_LENGTH)) return undefined;
  const word = raw.lastIndexOf(' ', raw.length - 2) + 1;
  if (word > raw.length / 2) return word;
  // A surrogate pair must not be split.
  return /[\uD800-\uDBFF]$/.test(raw) ? raw.length - 1 : raw.length;
}

/**
 * Replaces nodes on the page by new ones, and leaves alone everything that is equal: the user may have selected it.
 *
 * @template {ChildNode} T
 * @param {Node} parent
 * @param {readonly T[]} shown the last children of the parent
 * @param {readonly T[]} fresh
 * @returns {T[]} the last children of the parent now
 */
function updated(parent, shown, fresh) {
  for (const surplus of shown.slice(fresh.length)) surplus.remove();
  return fresh.map((node, index) => {
    const old = shown[index];
    if (old === undefined) return parent.appendChild(node);
    if (old.isEqualNode(node)) return old;
    if (old instanceof Text && node instanceof Text && node.data.startsWith(old.data)) {
      old.appendData(node.data.slice(old.length));
      return old;
    }
    if (old instanceof Element && old.cloneNode(false).isEqualNode(node.cloneNode(false))) {
      updated(old, [...old.childNodes], [...node.childNodes]);
      return old;
    }
    old.replaceWith(node);
    return node;
  });
}
