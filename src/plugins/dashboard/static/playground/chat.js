import { AnswerRunner } from './answer/answer-runner.js';
import { TurnView } from './turn/turn-view.js';

/**
 * @typedef {object} ChatParts
 * @property {import('../client.js').ChatClient} client
 * @property {string} accountId
 * @property {import('./conversation.js').Conversation} conversation
 * @property {import('./settings.js').Settings} settings
 * @property {import('./message-box.js').MessageBox} message
 * @property {import('./attachments.js').Attachments} attachments
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
    const { client, accountId, keptMs, settings, announce, follower } = parts;
    this.#answers = new AnswerRunner({
      client,
      accountId,
      keptMs,
      settings,
      announce,
      viewOf: (turn) => this.#views.get(turn),
      whenChanged: () => {
        parts.log.classList.toggle('answering', this.isAnswering);
        follower.follow();
        parts.whenChanged();
      },
    });
  }

  get isAnswering() {
    return this.#answers.isAnswering;
  }

  /**
   * @param {string} question empty to send the results of tools
   * @param {readonly string[]} [images]
   */
  send(question, images = []) {
    if (this.isAnswering) return;
    const { conversation, settings, follower } = this.parts;
    for (const view of this.#views.values()) view.settle();
    const turn = conversation.ask(question, images);
    const { otherModel } = settings;
    const other = otherModel === undefined ? undefined : conversation.askBeside(turn);
    const view = this.#view(turn);
    if (other !== undefined) this.#view(other, view);
    follower.goToEnd();
    this.#answers.ask(turn, this.#request(turn));
    if (other !== undefined) this.#answers.ask(other, this.#request(turn, otherModel));
  }

  /** Stops the answers, also in the service. */
  stop() {
    return this.#answers.stop();
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
    const stopped = this.stop();
    for (const turn of stopped) turn.end('stopped');
    return stopped.length > 0;
  }

  #showTurns() {
    const { conversation, settings, follower, whenChanged } = this.parts;
    for (const view of this.#views.values()) view.remove();
    this.#views.clear();
    for (const turn of conversation.turns) {
      const view = this.#view(turn);
      const other = conversation.besideOf(turn);
      const shown = other === undefined ? [view] : [view, this.#view(other, view)];
      const isLast = turn === conversation.last;
      for (const one of shown) {
        one.beginAnswer(settings.showsMarkdown);
        this.#showAnswer(one.turn, isLast);
        if (!isLast) one.settle();
      }
    }
    follower.goToEnd();
    whenChanged();
  }

  /**
   * Shows the answer of a turn as it was kept.
   *
   * @param {Turn} turn
   * @param {boolean} isLast
   */
  #showAnswer(turn, isLast) {
    if (isLast && this.#goesOn(turn)) this.#answers.continue(turn);
    else if (turn.state === 'failed') this.#answers.showFailure(turn);
    else this.#answers.showEnd(turn, turn.state === 'answering' ? 'stopped' : turn.state);
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

  /**
   * @param {Turn} turn
   * @param {TurnView} [beside] the view of the turn with the same question, which has the answer of another model
   */
  #view(turn, beside) {
    const { code, log, follower, announce } = this.parts;
    // What the user does with the answer of the other model goes on with this answer.
    const chosen = () => beside !== undefined && this.#showBranch(turn);
    const actions = {
      edit: () => (chosen(), this.#edit(turn)),
      retry: () => (chosen(), this.#tryAgain(turn)),
      retryWith: (/** @type {number} */ maxTokens) => {
        this.parts.settings.maxTokens = maxTokens;
        chosen();
        this.#regenerate(turn);
      },
      canRetryNow: () => announce('You can try again now.'),
      regenerate: () => (chosen(), this.#regenerate(turn)),
      continue: () => (chosen(), this.send('Continue exactly where you stopped.')),
      choose: beside && (() => this.#showBranch(turn)),
      sendResults: () => (chosen(), this.send('')),
      showCode: () => turn.request && code.open(turn.request, true),
    };
    const view = new TurnView(log, turn, actions, () => follower.follow(), beside);
    this.#views.set(turn, view);
    if (beside === undefined) this.#offerBranches(turn);
    return view;
  }

  /** @param {Turn} turn */
  #offerBranches(turn) {
    const branches = this.parts.conversation.branchesAt(turn);
    const index = branches.indexOf(turn);
    this.#views.get(turn)?.showBranches(index, branches.length, (step) => {
      const branch = branches[index + step];
      this.#showBranch(branch);
      if (branch !== undefined) this.#views.get(branch)?.focusBranches(step);
    });
  }

  /** @param {Turn | undefined} turn */
  #showBranch(turn) {
    if (this.isAnswering || turn === undefined) return;
    this.parts.conversation.showBranch(turn);
    this.#showTurns();
  }

  /**
   * @param {Turn} turn
   * @param {string} [model] answers beside each other keep their models
   */
  #request(turn, model = this.parts.conversation.besideOf(turn) && turn.request?.model) {
    const { conversation, settings } = this.parts;
    return settings.request(conversation.messages(settings.system, turn, turn), model);
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
    const { conversation, message, attachments, whenRemoved, whenChanged } = this.parts;
    if (this.isAnswering) this.stop();
    const { kept } = conversation;
    const count = this.#removeAfter(turn);
    conversation.cutBefore(turn);
    this.#removeView(turn);
    attachments.restore(turn.images);
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
    for (const one of later) this.#removeView(one);
    return later.length;
  }

  /** Removes a turn from the page, with the answer beside it. @param {Turn} turn */
  #removeView(turn) {
    for (const one of [turn, this.parts.conversation.besideOf(turn)]) {
      if (one === undefined) continue;
      this.#views.get(one)?.remove();
      this.#views.delete(one);
    }
  }
}

/** @param {number} count */
function removalOf(count) {
  return count === 1 ? 'A later exchange was removed.' : 'Later exchanges were removed.';
}
