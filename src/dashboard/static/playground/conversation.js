/** @typedef {import('../client.js').ChatMessage} ChatMessage */

/**
 * The state of an answer. `stopped`: the user stopped the answer. `failed`: the answer could not begin, or broke off.
 *
 * @typedef {'answering' | 'complete' | 'stopped' | 'failed'} TurnState
 */

/** A question and its answer. */
export class Turn {
  /** @type {TurnState} */
  state = 'answering';
  answer = '';

  /** @param {string} question */
  constructor(question) {
    this.question = question;
  }

  /** @param {string} text */
  add(text) {
    this.answer += text;
  }

  /** @param {Exclude<TurnState, 'answering'>} state */
  end(state) {
    this.state = state;
  }

  /** Resets the answer, so that the same question can be asked again. */
  restart() {
    this.state = 'answering';
    this.answer = '';
  }

  /**
   * Whether later requests include this turn. They include a stopped answer, because the user has seen its text and continues
   * from there. They leave out a failed answer, because its missing part is unknown. They leave out an empty answer, because
   * the API rejects empty messages.
   */
  get isSentAlong() {
    return this.answer !== '' && (this.state === 'complete' || this.state === 'stopped');
  }
}

/** The turns of a conversation, in memory only. */
export class Conversation {
  /** @type {Turn[]} */
  #turns = [];

  get isEmpty() {
    return this.#turns.length === 0;
  }

  get last() {
    return this.#turns.at(-1);
  }

  /** @param {string} question */
  ask(question) {
    const turn = new Turn(question);
    this.#turns.push(turn);
    return turn;
  }

  /** @param {Turn} turn */
  remove(turn) {
    this.#turns = this.#turns.filter((other) => other !== turn);
  }

  clear() {
    this.#turns = [];
  }

  /**
   * The messages of the request for an answer to the question: the system prompt, the earlier turns and the question.
   *
   * @param {string} system the system prompt. A prompt of only white space is left out.
   * @param {string} question
   * @returns {ChatMessage[]}
   */
  messages(system, question) {
    /** @type {ChatMessage[]} */
    const messages = system.trim() === '' ? [] : [{ role: 'system', content: system }];
    for (const turn of this.#turns.filter(({ isSentAlong }) => isSentAlong)) {
      messages.push({ role: 'user', content: turn.question }, { role: 'assistant', content: turn.answer });
    }
    return [...messages, { role: 'user', content: question }];
  }
}
