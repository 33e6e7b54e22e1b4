import { AnswerRunner } from './answer/answer-runner.js';
import { TurnView } from './turn/turn-view.js';

/**
 * @typedef {object} ChatParts
 * @property {import('../client.js').ChatClient} client
 * @property {import('./conversation.js').Conversation} conversation
 * @property {import('./settings.js').Settings} settings
 * @property {import('./message-box.js').MessageBox} message
 * @property {HTMLElement} log
 * @property {import('./turn/end-follower.js').EndFollower} follower
 * @property {import('./code-dialog.js').CodeDialog} code
 * @property {number} keptMs how long the service keeps an answer after its end
 * @property {(text: string) => void} announce speaks to screen readers. Announces the start and the end of an answer only.
 * @property {(removal: import('./undo-notice.js').Removal) => void} whenRemoved the user can take the removal back
 * @property {() => void} whenChanged
 */

/** @typedef {import('./conversation.js').Turn} Turn */

/** The conversation on the page: sends questions, and lets the user edit them and ask them again. */
export class Chat {
  /** @type {Map<Turn, TurnView>} */
  #views = new Map();
  #answers;

  /** @param {ChatParts} parts */
  constructor(parts) {
    this.parts = parts;
    const { client, settings, announce, follower } = parts;
    this.#answers = new AnswerRunner({
      client,
      settings,
      announce,
      viewOf: (turn) => this.#views.get(turn),
      whenChanged: () => {
        follower.follow();
        parts.whenChanged();
      },
    });
  }

  get isAnswering() {
    return this.#answers.isAnswering;
  }

  /** @param {string} question */
  send(question) {
    if (this.isAnswering) return;
    const { conversation, follower } = this.parts;
    for (const view of this.#views.values()) view.settle();
    const turn = conversation.ask(question);
    this.#view(turn);
    follower.goToEnd();
    this.#answers.ask(turn, this.#request(turn));
  }

  /** Stops the answer, also in the service. */
  stop() {
    this.#answers.stop();
  }

  /** Stops to read the answer. A durable stream goes on in the service, and can be read again after a reload. */
  leave() {
    this.#answers.leave();
  }

  clear() {
    const { conversation, message, whenRemoved } = this.parts;
    this.#stopNow();
    const { kept } = conversation;
    this.forget();
    whenRemoved({ kept, what: 'Conversation cleared.' });
    message.focus();
  }

  /**
   * Replaces the conversation on the page. Continues the last answer if the service may still have it.
   *
   * @param {import('./history/conversation-store.js').KeptConversation} [kept] nothing for a new conversation
   */
  restore(kept) {
    // The conversation that was there is kept with its end.
    if (this.#stopNow()) this.parts.whenChanged();
    this.#answers.comeBack();
    this.parts.conversation.restore(kept);
    this.#showTurns();
  }

  /** Starts a new conversation. The present one is not kept. */
  forget() {
    this.#stopNow();
    this.parts.conversation.restore();
    this.#showTurns();
  }

  /** Stops the answer before the conversation is replaced. Returns whether there was one. */
  #stopNow() {
    if (!this.isAnswering) return false;
    this.stop();
    this.parts.conversation.last?.end('stopped');
    return true;
  }

  #showTurns() {
    const { conversation, settings, follower, whenChanged } = this.parts;
    for (const view of this.#views.values()) view.remove();
    this.#views.clear();
    for (const turn of conversation.turns) {
      const view = this.#view(turn);
      view.beginAnswer(settings.showsMarkdown);
      if (turn === conversation.last && this.#goesOn(turn)) this.#answers.continue(turn);
      else if (turn.state === 'failed') this.#answers.showFailure(turn);
      else this.#answers.showEnd(turn, turn.state === 'answering' ? 'stopped' : turn.state);
      if (turn !== conversation.last) view.settle();
    }
    follower.goToEnd();
    whenChanged();
  }

  /** Whether the rest of the answer can be fetched without the risk of a second charge. @param {Turn} turn */
  #goesOn({ continuation, askedAt }) {
    // The service refuses to continue a stream that it does not keep, but answers a request whose key has expired.
    return continuation === 'stream' || (continuation === 'request' && Date.now() - askedAt < this.parts.keptMs);
  }

  /** @param {boolean} showsMarkdown */
  showAs(showsMarkdown) {
    for (const view of this.#views.values()) view.showAs(showsMarkdown);
  }

  /** @param {Turn} turn */
  #view(turn) {
    const { code, log, follower, announce } = this.parts;
    const actions = {
      edit: () => this.#edit(turn),
      retry: () => this.#tryAgain(turn),
      retryWith: (/** @type {number} */ maxTokens) => {
        this.parts.settings.maxTokens = maxTokens;
        this.#regenerate(turn);
      },
      canRetryNow: () => announce('You can try again now.'),
      regenerate: () => this.#regenerate(turn),
      continue: () => this.send('Continue exactly where you stopped.'),
      showCode: () => turn.request && code.open(turn.request, true),
    };
    const view = new TurnView(log, turn, actions, () => follower.follow());
    this.#views.set(turn, view);
    this.#offerBranches(turn);
    return view;
  }

  /** @param {Turn} turn */
  #offerBranches(turn) {
    const branches = this.parts.conversation.branchesAt(turn);
    const index = branches.indexOf(turn);
    this.#views
      .get(turn)
      ?.showBranches(index, branches.length, (step) => this.#showBranch(branches[index + step], step));
  }

  /**
   * @param {Turn | undefined} turn
   * @param {number} step
   */
  #showBranch(turn, step) {
    if (this.isAnswering || turn === undefined) return;
    this.parts.conversation.showBranch(turn);
    this.#showTurns();
    this.#views.get(turn)?.focusBranches(step);
  }

  /** @param {Turn} turn */
  #request(turn) {
    const { conversation, settings } = this.parts;
    return settings.request(conversation.messages(settings.system, turn.question, turn));
  }

  /** Fetches the rest of a failed answer. Asks for a new answer only if there is no rest. @param {Turn} turn */
  #tryAgain(turn) {
    if (this.isAnswering) return;
    const { message, follower } = this.parts;
    if (!this.#goesOn(turn)) return this.#regenerate(turn);
    message.focus();
    follower.goToEnd();
    this.#answers.continue(turn);
  }

  /** Asks the question of the turn again, with the settings of now. @param {Turn} turn */
  #regenerate(turn) {
    if (this.isAnswering) return;
    const { conversation, message, follower, whenRemoved } = this.parts;
    const isLast = turn === conversation.last;
    if (!isLast || turn.isSentAlong) {
      const kept = conversation.branchOff(turn);
      const count = this.#removeAfter(turn);
      whenRemoved({ kept, what: isLast ? 'The answer was replaced.' : removalOf(count) });
      this.#offerBranches(turn);
    }
    message.focus();
    follower.goToEnd();
    const request = this.#request(turn);
    // A request that the service has refused, or that may not have arrived, is repeated with its key.
    const isRepeated = turn.mayBeRepeated && JSON.stringify(request) === JSON.stringify(turn.request);
    this.#answers.ask(turn, request, isRepeated ? turn.idempotencyKey : undefined);
  }

  /** Puts the question back into the message box. @param {Turn} turn */
  #edit(turn) {
    const { conversation, message, whenRemoved, whenChanged } = this.parts;
    if (this.isAnswering) this.stop();
    const { kept } = conversation;
    const count = this.#removeAfter(turn);
    conversation.cutBefore(turn);
    this.#views.get(turn)?.remove();
    this.#views.delete(turn);
    const draft = message.restore(turn.question);
    whenRemoved({ kept, what: count === 0 ? 'The exchange was removed for editing.' : removalOf(count), draft });
    whenChanged();
  }

  /** Removes the later turns, and returns how many there were. @param {Turn} turn */
  #removeAfter(turn) {
    const { conversation } = this.parts;
    const { turns } = conversation;
    const later = turns.slice(turns.indexOf(turn) + 1);
    const [next] = later;
    if (next !== undefined) conversation.cutBefore(next);
    for (const one of later) {
      this.#views.get(one)?.remove();
      this.#views.delete(one);
    }
    return later.length;
  }
}

/** @param {number} count */
function removalOf(count) {
  return count === 1 ? 'A later exchange was removed.' : 'Later exchanges were removed.';
}
