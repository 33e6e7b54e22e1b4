import { timeText } from '../../client/time-text.js';
import { button, create, download, element } from '../elements.js';
import { hasText } from './conversation-store.js';

/**
 * @typedef {import('./conversation-store.js').ListedConversation} ListedConversation
 *
 * @typedef {object} HistoryActions
 * @property {() => string} currentId the id of the conversation on the page
 * @property {(conversation: ListedConversation) => void} open
 * @property {() => void} startNew
 * @property {() => void} forget starts a new conversation, because the one on the page was deleted
 */

/** The dialog with the conversations that this browser keeps. */
export class HistoryDialog {
  #dialog = element('history-dialog', HTMLDialogElement);
  #list = element('history-list', HTMLUListElement);
  #status = element('history-status', HTMLElement);
  #search = element('history-search', HTMLInputElement);
  #ofAll = [element('history-export', HTMLButtonElement), element('history-delete-all', HTMLButtonElement)];
  /** @type {ListedConversation[]} */
  #conversations = [];

  /**
   * @param {import('./conversation-store.js').ConversationStore} store
   * @param {HistoryActions} actions
   */
  constructor(store, actions) {
    this.store = store;
    this.actions = actions;
    const [exportAll, deleteAll] = this.#ofAll;
    element('show-history', HTMLButtonElement).addEventListener('click', () => void this.#show());
    element('history-close', HTMLButtonElement).addEventListener('click', () => this.#dialog.close());
    element('history-new', HTMLButtonElement).addEventListener('click', () => {
      this.#dialog.close();
      actions.startNew();
    });
    this.#search.addEventListener('input', () => this.#render());
    exportAll?.addEventListener('click', () => this.#export());
    deleteAll?.addEventListener('click', () => {
      if (confirm(`Delete ${countText(this.#conversations.length)}? This cannot be undone.`)) void this.#deleteAll();
    });
  }

  async #show() {
    this.#search.value = '';
    this.#conversations = [];
    this.#dialog.showModal();
    await this.#load();
  }

  async #load() {
    try {
      this.#conversations = await this.store.list();
      this.#render();
    } catch {
      this.#list.replaceChildren();
      this.#status.textContent = 'This browser does not allow the page to keep conversations.';
    }
  }

  #render() {
    const wanted = this.#search.value;
    const found = this.#conversations.filter((conversation) => hasText(conversation, wanted));
    const currentId = this.actions.currentId();
    this.#list.replaceChildren(...found.map((conversation) => this.#item(conversation, currentId)));
    for (const ofAll of this.#ofAll) ofAll.disabled = this.#conversations.length === 0;
    this.#status.textContent =
      wanted === '' || found.length > 0 ? countText(found.length) : 'No conversation has this text';
  }

  /**
   * @param {ListedConversation} conversation
   * @param {string} currentId
   */
  #item(conversation, currentId) {
    const { id, title, at } = conversation;
    const open = button('', () => {
      this.#dialog.close();
      this.actions.open(conversation);
    });
    open.append(create('span', '', title), create('small', '', timeText(new Date(at), 'minute')));
    if (id === currentId) open.setAttribute('aria-current', 'true');
    const remove = button('Delete', () => void this.#delete(conversation));
    remove.setAttribute('aria-label', `Delete “${title}”`);
    return create('li', '', open, remove);
  }

  /** @param {ListedConversation} conversation */
  async #delete({ id, title }) {
    await this.store.delete(id);
    if (id === this.actions.currentId()) this.actions.forget();
    await this.#load();
    this.#status.textContent = `“${title}” was deleted.`;
    // The button that had the focus is gone.
    this.#search.focus();
  }

  async #deleteAll() {
    await this.store.deleteAll();
    this.actions.forget();
    await this.#load();
    this.#search.focus();
  }

  #export() {
    const conversations = this.#conversations.map(({ at, ...rest }) => ({ ...rest, at: new Date(at).toISOString() }));
    const text = `${JSON.stringify({ exported_at: new Date().toISOString(), conversations }, null, 2)}\n`;
    download('conversations', text, 'application/json', 'json');
  }
}

/** @param {number} count */
function countText(count) {
  return count === 1 ? '1 conversation' : `${count} conversations`;
}
