/**
 * A conversation as the browser keeps it, with all of its branches.
 *
 * @typedef {object} KeptConversation
 * @property {string} id
 * @property {readonly import('../conversation.js').Turn[]} turns of all branches, the oldest first
 * @property {readonly string[]} path the ids of the turns that the page shows, the first one first
 */

/**
 * @typedef {KeptConversation & { readonly title: string, readonly at: number }} ListedConversation `at` is the time of the last
 *   question or text, in milliseconds since 1970
 */

const STORE = 'conversations';
const MAX_TITLE_LENGTH = 80;

/**
 * The conversations of one account in the IndexedDB of this browser. The service never gets them as a whole. All methods
 * reject if the browser forbids storage.
 */
export class ConversationStore {
  /** @type {Promise<IDBDatabase> | undefined} */
  #opened;

  /** @param {string} accountId another account in the same browser has a database of its own */
  constructor(accountId) {
    this.name = `playground ${accountId}`;
  }

  /** Adds or replaces a conversation. While no turn is shown, it stays as it was. @param {KeptConversation} kept */
  async save({ id, turns, path }) {
    if (path.length === 0) return;
    const at = Math.max(...turns.map(({ askedAt, lastTextAt }) => lastTextAt ?? askedAt));
    // As JSON, a turn has its fields only.
    const record = JSON.parse(JSON.stringify({ id, title: titleOf(turns), at, turns, path }));
    await this.#run('readwrite', (store) => store.put(record));
  }

  /** All conversations, the latest first. @returns {Promise<ListedConversation[]>} */
  async list() {
    /** @type {ListedConversation[]} */
    const all = await this.#run('readonly', (store) => store.getAll());
    return all.sort((one, other) => other.at - one.at);
  }

  /**
   * One conversation. `undefined` without an id, and if the browser does not keep it.
   *
   * @param {string | undefined} id
   * @returns {Promise<KeptConversation | undefined>}
   */
  async find(id) {
    if (id === undefined) return undefined;
    return this.#run('readonly', (store) => store.get(id)).catch(() => undefined);
  }

  /** @param {string} id */
  async delete(id) {
    await this.#run('readwrite', (store) => store.delete(id));
  }

  async deleteAll() {
    await this.#run('readwrite', (store) => store.clear());
  }

  /**
   * @param {IDBTransactionMode} mode
   * @param {(store: IDBObjectStore) => IDBRequest} act
   */
  async #run(mode, act) {
    const database = await (this.#opened ??= this.#open());
    return resultOf(act(database.transaction(STORE, mode).objectStore(STORE)));
  }

  /** @returns {Promise<IDBDatabase>} */
  #open() {
    const request = indexedDB.open(this.name, 1);
    request.addEventListener('upgradeneeded', () => request.result.createObjectStore(STORE, { keyPath: 'id' }));
    return resultOf(request);
  }
}

/**
 * @param {IDBRequest} request
 * @returns {Promise<any>}
 */
function resultOf(request) {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error));
  });
}

/** The beginning of the first question. @param {KeptConversation['turns']} turns */
function titleOf([first]) {
  const text = first?.question.trim().replaceAll(/\s+/g, ' ') ?? '';
  return text.length > MAX_TITLE_LENGTH ? `${text.slice(0, MAX_TITLE_LENGTH)}…` : text;
}

/**
 * Whether a question or an answer of the conversation has the text, in any case.
 *
 * @param {ListedConversation} conversation
 * @param {string} text
 */
export function hasText({ turns }, text) {
  const wanted = text.trim().toLowerCase();
  return turns.some(({ question, answer }) => `${question}\n${answer}`.toLowerCase().includes(wanted));
}
