/**
 * What the page saves in the session storage of the tab: reload and Back bring it back. Signing out clears the storage.
 *
 * @typedef {object} KeptPage
 * @property {import('./history/conversation-store.js').KeptConversation} [conversation]
 * @property {string} [conversationId] in the place of a conversation with more images than the storage takes
 * @property {string} draft
 * @property {Readonly<Record<string, string | boolean>>} settings
 */

/** The conversation, the draft and the settings of one account in the session storage. */
export class PageStore {
  #isCleared = false;

  /**
   * @param {Storage} storage
   * @param {string} accountId another account in the same tab does not get what this account has written.
   */
  constructor(storage, accountId) {
    this.storage = storage;
    this.name = `playground ${accountId}`;
  }

  /** @param {KeptPage & Required<Pick<KeptPage, 'conversation'>>} page */
  save({ conversation, ...rest }) {
    if (this.#isCleared || this.#write({ conversation, ...rest })) return;
    this.#write({ conversationId: conversation.id, ...rest });
  }

  /** Returns whether the storage took the page. The browser may forbid storage, or the storage may be full. @param {KeptPage} page */
  #write(page) {
    try {
      this.storage.setItem(this.name, JSON.stringify(page));
      return true;
    } catch {
      return false;
    }
  }

  /** Removes everything, and saves nothing from now on. */
  clear() {
    this.#isCleared = true;
    this.storage.removeItem(this.name);
  }

  /**
   * @returns {{ conversation: import('./history/conversation-store.js').KeptConversation | undefined,
   *   conversationId: string | undefined, draft: string, settings: Readonly<Record<string, unknown>> }}
   */
  restore() {
    const { conversation, conversationId, draft, settings } = this.#read();
    return {
      conversationId,
      conversation,
      draft: typeof draft === 'string' ? draft : '',
      settings: { ...settings },
    };
  }

  /** @returns {Partial<KeptPage>} */
  #read() {
    try {
      return JSON.parse(this.storage.getItem(this.name) ?? 'null') ?? {};
    } catch {
      return {};
    }
  }
}
