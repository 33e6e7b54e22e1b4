/** Characters after which a new block begins at the next line, as the browser lays out all of a block that changes. */
const BLOCK_LENGTH = 8_000;
/** Characters after which a new block begins in the middle of a line, as a model may never end one. */
const MAX_BLOCK_LENGTH = 64_000;

/** Text that grows at its end: what comes within a frame is shown at once, and what is shown is not touched again. */
export class GrowingText {
  /** @type {string[]} */
  #waiting = [];
  #isScheduled = false;
  /** @type {Text | undefined} */
  #end;

  /**
   * @param {HTMLElement} parent keeps white space.
   * @param {() => void} whenShown is called after the text has grown.
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
    // A page in the background has no frames.
    if (document.hidden) setTimeout(() => this.flush());
    else requestAnimationFrame(() => this.flush());
  }

  /** Shows all there is. */
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
 * Where in the text a block ends that holds `length` characters already; `undefined` where all of the text belongs to it.
 *
 * @param {string} text
 * @param {number} length
 */
function endOfBlock(text, length) {
  const mostRoom = Math.max(0, MAX_BLOCK_LENGTH - length);
  const lineEnd = text.indexOf('\n', Math.max(0, BLOCK_LENGTH - length));
  // The line break belongs to the block, where it takes no room, so that the text can be read back whole.
  if (lineEnd !== -1 && lineEnd < mostRoom) return lineEnd + 1;
  if (text.length <= mostRoom) return undefined;
  const space = text.lastIndexOf(' ', mostRoom - 1);
  if (mostRoom > 0 && space !== -1) return space + 1;
  // A character of two units stays whole.
  return (text.codePointAt(mostRoom - 1) ?? 0) > 0xffff ? mostRoom - 1 : mostRoom;
}
