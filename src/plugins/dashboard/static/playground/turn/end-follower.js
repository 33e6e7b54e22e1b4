/** The distance in pixels from the end within which the user counts as being at the end. */
const NEAR = 32;

/** Keeps a scrolling element at its end while the user is at the end. Does not scroll while the user reads further up. */
export class EndFollower {
  #isAtEnd = true;
  #size = '';
  #top = 0;

  /**
   * @param {HTMLElement} element
   * @param {(isAtEnd: boolean) => void} whenMoved
   */
  constructor(element, whenMoved) {
    this.element = element;
    this.whenMoved = whenMoved;
    element.addEventListener('scroll', () => {
      // The browser also scrolls when the element changes its size. The ResizeObserver below handles that case.
      if (sizeOf(element) !== this.#size) return;
      // Text that came after a scroll to the end, and before this event, is no move of the user.
      if (!this.#isAtEnd || element.scrollTop < this.#top) this.#look();
    });
    // The element shrinks when the user turns a phone, or when the keyboard of the phone opens.
    new ResizeObserver(() => {
      this.#size = sizeOf(element);
      this.follow();
    }).observe(element);
  }

  /** Scrolls to the end if the user is at the end. Call this when the content has grown. */
  follow() {
    if (this.#isAtEnd) this.goToEnd();
  }

  goToEnd() {
    this.element.scrollTop = this.element.scrollHeight;
    this.#look();
  }

  #look() {
    const { scrollHeight, scrollTop, clientHeight } = this.element;
    this.#top = scrollTop;
    this.#isAtEnd = scrollHeight - scrollTop - clientHeight <= NEAR;
    this.whenMoved(this.#isAtEnd);
  }
}

/** @param {HTMLElement} element */
function sizeOf({ clientWidth, clientHeight }) {
  return `${clientWidth} ${clientHeight}`;
}
