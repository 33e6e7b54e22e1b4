import { ChatError } from '../../client.js';
import { delay } from '../../client/delay.js';
import { timeText } from '../../client/time-text.js';
import { completionStream, isCompletionRequest } from './completion-stream.js';
import { adviceOn, keptFailure } from './failure-advice.js';

/** The service sends something each 15 s. */
const IDLE_TIMEOUT_MS = 20_000;
/** The service begins each response within 30 s. */
const HEAD_TIMEOUT_MS = 40_000;
const NOT_CONTEXT = 'This exchange is not included as context.';

/**
 * @typedef {import('../conversation.js').Turn} Turn
 * @typedef {import('../turn/turn-view.js').TurnView} TurnView
 * @typedef {import('./completion-stream.js').AnyRequest} AnyRequest
 */

/**
 * @typedef {Pick<import('../chat.js').ChatParts, 'client' | 'accountId' | 'keptMs' | 'settings' | 'announce' | 'whenChanged'> & {
 *   viewOf: (turn: Turn) => TurnView | undefined
 * }} RunnerParts `viewOf` returns `undefined` for a turn that the user has removed
 */

/**
 * An answer that runs now.
 *
 * @typedef {object} Answering
 * @property {Turn} turn
 * @property {import('../../client.js').ChatStream} stream
 * @property {AbortController} controller
 */

/** Fetches answers and shows them as they arrive: one, or those of two models to the same question. */
export class AnswerRunner {
  /** @type {Set<Answering>} */
  #answering = new Set();
  /** Whether the browser shows another page now, so that the kept state must not change. */
  #hasLeft = false;

  /** @param {RunnerParts} parts */
  constructor(parts) {
    this.parts = parts;
  }

  get isAnswering() {
    return this.#answering.size > 0;
  }

  /**
   * Requests an answer.
   *
   * @param {Turn} turn
   * @param {AnyRequest} request
   * @param {string} [idempotencyKey] the key of an earlier request, if the answer must not be generated twice
   */
  ask(turn, request, idempotencyKey = crypto.randomUUID()) {
    const { settings, announce, viewOf } = this.parts;
    turn.begin(request, settings.nameOf(request.model), idempotencyKey);
    viewOf(turn)?.beginAnswer(settings.showsMarkdown);
    settings.markInvalid([]);
    announce('Waiting for response.');
    void this.#run(turn);
  }

  /** Fetches the rest of an answer. @param {Turn} turn */
  continue(turn) {
    if (turn.continuation === 'request') Object.assign(turn, { answer: '', calls: [] });
    turn.continue();
    this.parts.viewOf(turn)?.continueAnswer(this.parts.settings.showsMarkdown);
    void this.#run(turn);
  }

  /** Stops all answers, also in the service. Returns their turns. */
  stop() {
    const turns = this.#abandon();
    for (const { streamId } of turns) if (streamId !== undefined) void cancelStream(this.parts.client, streamId);
    return turns;
  }

  /** Stops to read the answers. Durable streams go on in the service, and can be read again after a reload. */
  leave() {
    this.#hasLeft = true;
    this.#abandon();
  }

  /** The browser shows the page again. */
  comeBack() {
    this.#hasLeft = false;
  }

  /**
   * @param {Turn} turn
   * @param {'complete' | 'stopped'} state
   */
  showEnd(turn, state) {
    turn.end(state);
    const view = this.parts.viewOf(turn);
    if (turn.isSentAlong) {
      view?.endAnswer(state === 'complete' ? '' : 'Stopped. This partial answer is included as context.');
    } else {
      const what = state === 'complete' ? 'The answer is empty.' : 'Stopped before the first text.';
      view?.endAnswer(`${what} ${NOT_CONTEXT}`);
    }
  }

  /** Shows why the answer failed, and returns it as text. @param {Turn} turn */
  showFailure(turn) {
    const { failure, continuation } = turn;
    const view = this.parts.viewOf(turn);
    if (failure === undefined) {
      view?.endAnswer(`Incomplete. ${NOT_CONTEXT}`);
      return '';
    }
    const advice = adviceOn(failure, continuation !== undefined);
    view?.failAnswer(advice, turn.answer === '' ? '' : `Incomplete. ${NOT_CONTEXT}`);
    return `${advice.title}. ${advice.text}`;
  }

  /** Stops to read all answers, also before their first text. Returns their turns. */
  #abandon() {
    return [...this.#answering].map(({ turn, stream, controller }) => {
      turn.isAt(stream);
      controller.abort();
      return turn;
    });
  }

  /** @param {Turn} turn */
  async #run(turn) {
    const { announce, viewOf, whenChanged } = this.parts;
    const controller = new AbortController();
    const { signal } = controller;
    const stream = this.#open(turn, signal);
    const answering = { turn, stream, controller };
    this.#answering.add(answering);
    whenChanged();
    try {
      for await (const text of stream) {
        if (turn.answer === '') announce('The answer is starting.');
        turn.add(text);
        turn.isAt(stream);
        viewOf(turn)?.add(text);
      }
      turn.isAt(stream);
      await viewOf(turn)?.finishText();
      this.#end(turn, 'complete');
    } catch (error) {
      turn.isAt(stream);
      if (this.#hasLeft) return;
      await viewOf(turn)?.finishText();
      if (signal.aborted) this.#end(turn, 'stopped');
      else this.#fail(turn, error);
    } finally {
      this.#answering.delete(answering);
      if (!this.#hasLeft) {
        whenChanged();
        void this.#fetchReceipt(turn);
      }
    }
  }

  /**
   * @param {Turn} turn
   * @param {AbortSignal} signal
   */
  #open(turn, signal) {
    const { client, accountId, keptMs, announce, viewOf } = this.parts;
    const { streamId, lastEventId, request, idempotencyKey } = turn;
    const options = {
      signal,
      maxReconnects: Infinity,
      idleTimeoutMs: IDLE_TIMEOUT_MS,
      headTimeoutMs: HEAD_TIMEOUT_MS,
      /** @param {import('../../client.js').ConnectionEvent} event */
      onConnection: ({ type }) => {
        if (type === 'reconnecting' || signal.aborted) return;
        const text = type === 'lost' ? lostConnectionText(turn.lastTextAt) : '';
        viewOf(turn)?.showConnection(text);
        announce(text || 'Connected again.');
      },
    };
    if (isCompletionRequest(request)) {
      const whenCalled = (/** @type {Turn['calls']} */ calls) => {
        turn.calls = calls;
        viewOf(turn)?.showCalls();
      };
      return completionStream(turn, request, { accountId, keptMs, whenCalled }, options);
    }
    if (streamId !== undefined) return client.resume({ streamId, lastEventId }, options);
    if (request === undefined) throw new Error('There is no answer to continue.');
    return client.stream(request, { ...options, idempotencyKey });
  }

  /**
   * @param {Turn} turn
   * @param {'complete' | 'stopped'} state
   */
  #end(turn, state) {
    this.showEnd(turn, state);
    // The user may have cleared the conversation in the meantime.
    if (this.parts.viewOf(turn) === undefined) return;
    const isComplete = state === 'complete';
    this.parts.announce(isComplete ? `The answer is complete: ${words(turn.answer)}.` : 'The answer was stopped.');
  }

  /**
   * @param {Turn} turn
   * @param {unknown} error
   */
  #fail(turn, error) {
    const failure = keptFailure(error);
    turn.end('failed', failure);
    this.parts.settings.markInvalid(failure.details.map(({ field }) => field));
    if (failure.code === 'model_not_found') void this.#refreshModels();
    this.parts.announce(this.showFailure(turn));
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
    this.parts.viewOf(turn)?.refresh();
    this.parts.whenChanged();
  }
}

/** @param {string} text */
function words(text) {
  const count = text.split(/\s+/).filter((word) => word !== '').length;
  return count === 1 ? '1 word' : `${count} words`;
}

/**
 * What the page says while there is no connection.
 *
 * @param {number | undefined} lastTextAt in milliseconds since 1970
 */
function lostConnectionText(lastTextAt) {
  const last =
    lastTextAt === undefined
      ? 'No text has arrived yet.'
      : `The last text arrived at ${timeText(new Date(lastTextAt), 'time')}.`;
  return `Connection lost. Reconnecting… ${last}`;
}

const FIRST_PAUSE_MS = 1_000;
/** All pauses together take about as long as the service generates without a reader. */
const MAX_PAUSE_MS = 128_000;

/**
 * Ends a stream in the service. Without a connection, tries again later: meanwhile the service generates on, and charges.
 *
 * @param {import('../../client.js').ChatClient} client
 * @param {string} streamId
 */
async function cancelStream(client, streamId) {
  for (let pauseMs = FIRST_PAUSE_MS; pauseMs <= MAX_PAUSE_MS; pauseMs *= 2) {
    try {
      await client.cancel(streamId);
      return;
    } catch (error) {
      if (!(error instanceof ChatError) || error.kind !== 'unreachable') return;
    }
    await delay(pauseMs, undefined, true);
  }
}
