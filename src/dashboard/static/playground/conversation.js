/** @typedef {import('./answer/answer-stream.js').ChatMessage} ChatMessage */

/**
 * How far the answer has come. `stopped`: the user wanted no more of it. `failed`: it could not begin, or broke off.
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

  /** Asks the same again. */
  restart() {
    this.state = 'answering';
    this.answer = '';
  }

  /**
   * Whether it goes along with later questions. A stopped answer does, as its reader has seen it and asks on; a broken one
   * does not, as nobody knows what it would have said, and the interface takes no empty one.
   */
  get isSentAlong() {
    return this.answer !== '' && (this.state === 'complete' || this.state === 'stopped');
  }
}

/** What was asked and answered, in memory only. */
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
   * All of it, as it is sent to get the answer to a question.
   *
   * @param {string} system nothing but white space is no prompt.
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
