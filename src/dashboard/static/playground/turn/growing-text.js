/**
 * The number of characters after which a new block begins at the next line break. The browser lays out the whole block again
 * when the block changes, so blocks must stay small.
 */
const BLOCK_LENGTH = 8_000;
/** The number of characters after which a new block begins inside a line, because a model may never end a line. */
const MAX_BLOCK_LENGTH = 64_000;

/** Text that grows at its end. All text that arrives within one frame is shown together. Shown text does not change again. */
export class GrowingText {
  /** @type {string[]} */
  #waiting = [];
  #isScheduled = false;
  /** @type {Text | undefined} */
  #end;

  /**
   * @param {HTMLElement} parent the element for the text. Its style must preserve white space.
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
    // Browsers draw no frames for a page in the background.
    if (document.hidden) setTimeout(() => this.flush());
    else requestAnimationFrame(() => this.flush());
  }

  /** Shows all waiting text now. */
  flush() {
    this.#isScheduled = false;
    if (this.#waiting.length === 0) return;
    const text = this.#waiting.join('');
    this.#waiting = [];
    this.#append(text);
    this.whenShown();
  }

  /** @param {string} text */
  #append(text) {
    let rest = text;
    while (rest !== '') {
      const end = this.#end ?? this.#newBlock();
      const cut = endOfBlock(rest, end.length);
      if (cut === undefined) {
        end.appendData(rest);
        return;
      }
      end.appendData(rest.slice(0, cut));
      this.#end = undefined;
      rest = rest.slice(cut);
    }
  }

  #newBlock() {
    const block = document.createElement('div');
    this.#end = document.createTextNode('');
    block.append(this.#end);
    this.parent.append(block);
    return this.#end;
  }
}

/**
 * The index in the text at which the current block ends. The block already holds `length` characters. Returns `undefined` if
 * all of the text belongs to the block.
 *
 * @param {string} text
 * @param {number} length
 */
function endOfBlock(text, length) {
  const mostRoom = Math.max(0, MAX_BLOCK_LENGTH - length);
  const lineEnd = text.indexOf('\n', Math.max(0, BLOCK_LENGTH - length));
  // The line break stays in the block, where it takes no space on the page. The full text can therefore be read back.
  if (lineEnd !== -1 && lineEnd < mostRoom) return lineEnd + 1;
  if (text.length <= mostRoom) return undefined;
  const space = text.lastIndexOf(' ', mostRoom - 1);
  if (mostRoom > 0 && space !== -1) return space + 1;
  // A surrogate pair must not be split.
  return (text.codePointAt(mostRoom - 1) ?? 0) > 0xffff ? mostRoom - 1 : mostRoom;
}
