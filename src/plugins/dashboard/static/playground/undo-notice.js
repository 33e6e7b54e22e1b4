import { button, create } from './elements.js';

/**
 * The page before a removal.
 *
 * @typedef {object} Removal
 * @property {import('./history/conversation-store.js').KeptConversation} kept
 * @property {string} what was removed, in a sentence
 * @property {{ readonly before: string, readonly after: string }} [draft] the text of the message box, if the removal changed it
 */

/** Offers to take back the removal of turns. */
export class UndoNotice {
  /**
   * @param {HTMLElement} container
   * @param {(removal: Removal) => void} restore
   */
  constructor(container, restore) {
    this.container = container;
    this.restore = restore;
  }

  /** @param {Removal} removal */
  offer(removal) {
    const undo = button('Undo', () => {
      this.withdraw();
      this.restore(removal);
    });
    this.container.replaceChildren(create('span', '', removal.what), undo);
  }

  /** Shows a sentence in the place of the offer. @param {string} text */
  tell(text) {
    this.container.replaceChildren(create('span', '', text));
  }

  withdraw() {
    this.container.replaceChildren();
  }
}
