import { ChatError } from '../client.js';
import { Turn } from './conversation.js';
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
 * @property {import('./code/code-dialog.js').CodeDialog} code
 * @property {(text: string) => void} announce speaks to screen readers. Announces the start and the end of an answer only.
 * @property {(removed: readonly Turn[], what: string) => void} whenRemoved the user can take the removal back
 * @property {() => void} whenChanged
 */

/**
 * The answer that runs now.
 *
 * @typedef {object} Answering
 * @property {Turn} turn
 * @property {import('../client.js').ChatStream} stream
 * @property {AbortController} controller
 */

/** Sends questions, shows the answers, and reports failures. At most one answer runs at a time. */
export class Chat {
  /** @type {Answering | undefined} */
  #answering;
  /** Whether the browser shows another page now, so that the kept state must not change. */
  #hasLeft = false;
  /** @type {Map<Turn, TurnView>} */
  #views = new Map();

  /** @param {ChatParts} parts */
  constructor(parts) {
    this.parts = parts;
  }

  get isAnswering() {
    return this.#answering !== undefined;
  }

  /** @param {string} question */
  send(question) {
    if (this.isAnswering) return;
    const { conversation, follower } = this.parts;
    for (const view of this.#views.values()) view.settle();
    const turn = conversation.ask(question);
    this.#view(turn);
    follower.goToEnd();
    void this.#answer(turn, this.#request(turn));
  }

  /** Stops the answer, also in the service. */
  stop() {
    const streamId = this.#abandon();
    if (streamId !== undefined) this.parts.client.cancel(streamId).catch(() => undefined);
  }

  /** Stops to read the answer. A durable stream goes on in the service, and can be read again after a reload. */
  leave() {
    this.#hasLeft = true;
    this.#abandon();
  }

  /** Stops to read the answer, also before its first text. Returns the id of its stream, if the service has told it. */
  #abandon() {
    if (this.#answering === undefined) return undefined;
    const { turn, stream, controller } = this.#answering;
    turn.isAt(stream);
    controller.abort();
    return turn.streamId;
  }

  clear() {
    const { conversation, message, whenRemoved } = this.parts;
    const removed = conversation.turns;
    this.restore([]);
    whenRemoved(removed, 'Conversation cleared.');
    message.focus();
  }

  /**
   * Replaces the turns on the page. Continues the last answer if the service still has it.
   *
   * @param {readonly Turn[]} turns
   */
  restore(turns) {
    const { conversation, settings, follower, whenChanged } = this.parts;
    this.#hasLeft = false;
    if (this.isAnswering) this.stop();
    for (const view of this.#views.values()) view.remove();
    this.#views.clear();
    conversation.restore(turns);
    for (const turn of turns) {
      const view = this.#view(turn);
      view.beginAnswer(settings.showsMarkdown);
      if (turn.state === 'answering' && turn.streamId !== undefined) void this.#answer(turn);
      else this.#showEnd(turn, turn.state === 'answering' ? 'stopped' : turn.state);
    }
    follower.goToEnd();
    whenChanged();
  }

  /** @param {boolean} showsMarkdown */
  showAs(showsMarkdown) {
    for (const view of this.#views.values()) view.showAs(showsMarkdown);
  }

  /** @param {Turn} turn */
  #view(turn) {
    const { code, log, follower } = this.parts;
    const actions = {
      edit: () => this.#edit(turn),
      regenerate: () => this.#askAgain(turn),
      continue: () => this.send('Continue exactly where you stopped.'),
      showCode: () => turn.request && code.open(turn.request, true),
    };
    const view = new TurnView(log, turn, actions, () => follower.follow());
    this.#views.set(turn, view);
    return view;
  }

  /** @param {Turn} turn */
  #request(turn) {
    const { conversation, settings } = this.parts;
    return settings.request(conversation.messages(settings.system, turn.question, turn));
  }

  /**
   * @param {Turn} turn
   * @param {import('../client.js').ChatRequest} [request] if it is missing, the stream of the turn is continued
   */
  async #answer(turn, request) {
    const { client, settings, announce, whenChanged } = this.parts;
    const view = this.#views.get(turn);
    const controller = new AbortController();
    const { signal } = controller;
    const { streamId = '', lastEventId } = turn;
    const stream =
      request === undefined
        ? client.resume({ streamId, lastEventId }, { signal })
        : client.stream(request, { signal, idempotencyKey: crypto.randomUUID() });
    const answering = (this.#answering = { turn, stream, controller });
    if (request !== undefined) {
      turn.begin(request, settings.modelName);
      view?.beginAnswer(settings.showsMarkdown);
      settings.markInvalid([]);
      announce('Waiting for response.');
    }
    whenChanged();
    try {
      for await (const text of stream) {
        if (turn.answer === '') announce('The answer is starting.');
        turn.add(text);
        turn.isAt(stream);
        view?.add(text);
      }
      turn.isAt(stream);
      this.#end(turn, 'complete');
    } catch (error) {
      turn.isAt(stream);
      if (this.#hasLeft) return;
      if (signal.aborted) this.#end(turn, 'stopped');
      else this.#fail(turn, error);
    } finally {
      if (this.#answering === answering) this.#answering = undefined;
      if (!this.#hasLeft) {
        whenChanged();
        void this.#fetchReceipt(turn);
      }
    }
  }

  /**
   * @param {Turn} turn
   * @param {'complete' | 'stopped'} state
   */
  #end(turn, state) {
    this.#showEnd(turn, state);
    // The user may have cleared the conversation in the meantime.
    if (!this.#views.has(turn)) return;
    const isComplete = state === 'complete';
    this.parts.announce(isComplete ? `The answer is complete: ${words(turn.answer)}.` : 'The answer was stopped.');
  }

  /**
   * @param {Turn} turn
   * @param {'complete' | 'stopped' | 'failed'} state
   */
  #showEnd(turn, state) {
    turn.end(state);
    const view = this.#views.get(turn);
    if (state === 'failed') {
      view?.endAnswer('Incomplete. This exchange is not included as context.');
    } else if (turn.isSentAlong) {
      view?.endAnswer(state === 'complete' ? '' : 'Stopped. This partial answer is included as context.');
    } else {
      const what = state === 'complete' ? 'The answer is empty.' : 'Stopped before the first text.';
      view?.endAnswer(`${what} This exchange is not included as context.`);
    }
  }

  /**
   * @param {Turn} turn
   * @param {unknown} error
   */
  #fail(turn, error) {
    const failure =
      error instanceof ChatError ? error : new ChatError('This page had an error.', { kind: 'invalid', cause: error });
    const advice = adviceOn(failure);
    turn.end('failed');
    this.parts.settings.markInvalid((failure.details ?? []).map(({ field }) => field));
    if (failure.code === 'model_not_found') void this.#refreshModels();
    const note = turn.answer === '' ? '' : 'Incomplete. This exchange is not included as context.';
    this.#views.get(turn)?.failAnswer(advice, note, {
      retry: () => this.#askAgain(turn),
      edit: () => this.#edit(turn),
      canRetryNow: () => this.parts.announce('You can try again now.'),
    });
    this.parts.announce(`${advice.title}. ${advice.text}`);
  }

  /** Shows the models that there are now. */
  async #refreshModels() {
    const { client, settings, whenChanged } = this.parts;
    const models = await client.models().catch(() => []);
    if (models.length > 0) settings.replaceModels(models);
    whenChanged();
  }

  /** @param {Turn} turn */
  async #fetchReceipt(turn) {
    if (turn.requestId === undefined || (turn.state === 'failed' && turn.answer === '')) return;
    // Without a receipt, the answer is as good as before.
    turn.receipt = await this.parts.client.receipt(turn.requestId).catch(() => undefined);
    this.#views.get(turn)?.refresh();
    this.parts.follower.follow();
    this.parts.whenChanged();
  }

  /** Asks the question of the turn again, with the settings of now. @param {Turn} turn */
  #askAgain(turn) {
    if (this.isAnswering) return;
    const { conversation, message, follower, whenRemoved } = this.parts;
    const before = conversation.turns.map((one) => (one === turn ? Turn.from({ ...one }) : one));
    const hasLater = this.#removeAfter(turn, before);
    if (!hasLater && turn.isSentAlong) whenRemoved(before, 'The answer was replaced.');
    message.focus();
    follower.goToEnd();
    void this.#answer(turn, this.#request(turn));
  }

  /** Puts the question back into the message box. @param {Turn} turn */
  #edit(turn) {
    const { conversation, message, whenChanged } = this.parts;
    if (this.isAnswering) this.stop();
    this.#removeAfter(turn, conversation.turns);
    conversation.cutBefore(turn);
    this.#views.get(turn)?.remove();
    this.#views.delete(turn);
    message.giveBack(turn.question);
    whenChanged();
  }

  /**
   * @param {Turn} turn
   * @param {readonly Turn[]} before the turns that Undo brings back
   * @returns {boolean} whether there were later turns
   */
  #removeAfter(turn, before) {
    const { conversation, whenRemoved } = this.parts;
    const all = conversation.turns;
    const later = all.slice(all.indexOf(turn) + 1);
    const [next] = later;
    if (next === undefined) return false;
    conversation.cutBefore(next);
    for (const one of later) {
      this.#views.get(one)?.remove();
      this.#views.delete(one);
    }
    whenRemoved(before, later.length === 1 ? 'A later exchange was removed.' : 'Later exchanges were removed.');
    return true;
  }
}

/** @param {string} text */
function words(text) {
  const count = text.split(/\s+/).filter((word) => word !== '').length;
  return count === 1 ? '1 word' : `${count} words`;
}
