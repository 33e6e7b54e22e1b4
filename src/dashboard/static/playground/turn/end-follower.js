/** Pixels from the end within which a reader counts as being there. */
const NEAR = 32;

/** Keeps a scrolled element at its end while its reader is there, and lets alone who reads further up. */
export class EndFollower {
  #isAtEnd = true;
  #size = '';

  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    element.addEventListener('scroll', () => {
      // A browser scrolls by itself when the element changes its size. It is told of that below.
      if (sizeOf(element) !== this.#size) return;
      this.#isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight <= NEAR;
    });
    // A telephone that is turned, or whose keyboard opens, has less room for it.
    new ResizeObserver(() => {
      this.#size = sizeOf(element);
      this.follow();
    }).observe(element);
  }

  /** To be called when there is more in it. */
  follow() {
    if (this.#isAtEnd) this.goToEnd();
  }

  goToEnd() {
    this.#isAtEnd = true;
    this.element.scrollTop = this.element.scrollHeight;
  }
}

/** @param {HTMLElement} element */
function sizeOf({ clientWidth, clientHeight }) {
  return `${clientWidth} ${clientHeight}`;
}
