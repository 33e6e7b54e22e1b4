import { ChatError } from '../client.js';
import { adviceOn } from './answer/failure-advice.js';
import { TurnView } from './turn/turn-view.js';

/**
 * @typedef {object} ChatParts
 * @property {import('../client.js').ChatClient} client
 * @property {import('./conversation.js').Conversation} conversation
 * @property {import('./settings.js').Settings} settings
 * @property {import('./message-box.js').MessageBox} message
 * @property {HTMLElement} log
 * @property {import('./turn/end-follower.js').EndFollower} follower
 * @property {HTMLElement} announcer speaks to screen readers. Announces the start and the end of an answer, not each word.
 * @property {() => void} whenChanged
 */

/** Sends questions, shows the answers, and reports failures. At most one answer runs at a time. */
export class Chat {
  /** @type {AbortController | undefined} */
  #answering;
  /** @type {Map<import('./conversation.js').Turn, TurnView>} */
  #views = new Map();

  /** @param {ChatParts} parts */
  constructor(parts) {
    this.parts = parts;
  }

  get isAnswering() {
    return this.#answering !== undefined;
  }

  get lastQuestion() {
    return this.parts.conversation.last?.question;
  }

  /** @param {string} question */
  send(question) {
    const { conversation, log, follower } = this.parts;
    for (const view of this.#views.values()) view.settle();
    const turn = conversation.ask(question);
    this.#views.set(turn, new TurnView(log, question, () => follower.follow()));
    follower.goToEnd();
    void this.#answer(turn);
  }

  stop() {
    this.#answering?.abort();
  }

  clear() {
    const { conversation, message } = this.parts;
    this.stop();
    conversation.clear();
    for (const view of this.#views.values()) view.remove();
    this.#views.clear();
    this.#changed('Conversation cleared.');
    message.focus();
  }

  /** @param {import('./conversation.js').Turn} turn */
  async #answer(turn) {
    const { client, conversation, settings } = this.parts;
    const view = this.#views.get(turn);
    const controller = (this.#answering = new AbortController());
    const request = settings.request(conversation.messages(settings.system, turn.question));
    settings.markInvalid([]);
    view?.beginAnswer(settings.modelName);
    this.#changed('Waiting for response.');
    try {
      for await (const text of client.stream(request, { signal: controller.signal })) {
        if (turn.answer === '') this.#announce('The answer is starting.');
        turn.add(text);
        view?.add(text);
      }
      this.#end(turn, 'complete');
    } catch (error) {
      if (controller.signal.aborted) this.#end(turn, 'stopped');
      else this.#fail(turn, error);
    } finally {
      if (this.#answering === controller) this.#answering = undefined;
      this.#changed();
    }
  }

  /**
   * @param {import('./conversation.js').Turn} turn
   * @param {'complete' | 'stopped'} state
   */
  #end(turn, state) {
    turn.end(state);
    const view = this.#views.get(turn);
    // The user may have cleared the conversation in the meantime.
    if (view === undefined) return;
    if (turn.isSentAlong) {
      view.endAnswer(state === 'complete' ? '' : 'Stopped. This partial answer is included as context.');
    } else {
      const what = state === 'complete' ? 'The answer is empty.' : 'Stopped before the first text.';
      view.endAnswer(`${what} This exchange is not included as context.`);
    }
    this.#announce(state === 'complete' ? `The answer is complete: ${words(turn.answer)}.` : 'The answer was stopped.');
  }

  /**
   * @param {import('./conversation.js').Turn} turn
   * @param {unknown} error
   */
  #fail(turn, error) {
    const failure =
      error instanceof ChatError ? error : new ChatError('This page failed.', { kind: 'invalid', cause: error });
    const advice = adviceOn(failure);
    turn.end('failed');
    this.parts.settings.markInvalid((failure.details ?? []).map(({ field }) => field));
    const note = turn.answer === '' ? '' : 'Incomplete. This exchange is not included as context.';
    this.#views.get(turn)?.failAnswer(advice, note, {
      retry: () => this.#retry(turn),
      edit: () => this.#edit(turn),
      canRetryNow: () => this.#announce('You can try again now.'),
    });
    this.#announce(`${advice.title}. ${advice.text}`);
  }

  /** @param {import('./conversation.js').Turn} turn */
  #retry(turn) {
    if (this.isAnswering) return;
    const { message, follower } = this.parts;
    this.#views.get(turn)?.dropEmptyAnswer();
    turn.restart();
    message.focus();
    follower.goToEnd();
    void this.#answer(turn);
  }

  /** @param {import('./conversation.js').Turn} turn */
  #edit(turn) {
    const { conversation, message } = this.parts;
    conversation.remove(turn);
    this.#views.get(turn)?.remove();
    this.#views.delete(turn);
    message.giveBack(turn.question);
    this.#changed();
  }

  /** @param {string} [announcement] */
  #changed(announcement) {
    this.parts.whenChanged();
    if (announcement !== undefined) this.#announce(announcement);
  }

  /** @param {string} text */
  #announce(text) {
    this.parts.announcer.textContent = text;
  }
}

/** @param {string} text */
function words(text) {
  const count = text.split(/\s+/).filter((word) => word !== '').length;
  return count === 1 ? '1 word' : `${count} words`;
}
