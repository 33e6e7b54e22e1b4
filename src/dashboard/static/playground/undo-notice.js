import { button, create } from './elements.js';

/** Offers to take back the removal of turns. */
export class UndoNotice {
  /**
   * @param {HTMLElement} container
   * @param {(turns: readonly import('./conversation.js').Turn[]) => void} restore
   */
  constructor(container, restore) {
    this.container = container;
    this.restore = restore;
  }

  /**
   * @param {readonly import('./conversation.js').Turn[]} turns the turns before the removal
   * @param {string} what
   */
  offer(turns, what) {
    const undo = button('Undo', () => {
      this.withdraw();
      this.restore(turns);
    });
    this.container.replaceChildren(create('span', '', what), undo);
  }

  withdraw() {
    this.container.replaceChildren();
  }
}
