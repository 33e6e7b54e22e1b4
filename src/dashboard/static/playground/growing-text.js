/** Characters after which a new block begins at the next line, as the browser lays out all of a block that changes. */
const BLOCK_LENGTH = 8_000;

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
      const room = BLOCK_LENGTH - end.length;
      const lineEnd = rest.indexOf('\n', Math.max(0, room));
      if (rest.length <= room || lineEnd === -1) {
        end.appendData(rest);
        return;
      }
      // The line break belongs to the block, where it takes no room, so that the text can be read back whole.
      end.appendData(rest.slice(0, lineEnd + 1));
      this.#end = undefined;
      rest = rest.slice(lineEnd + 1);
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
