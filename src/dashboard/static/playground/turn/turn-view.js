import { RetryControls } from './retry-controls.js';
import { GrowingText } from './growing-text.js';

/** The elements on the page that show a turn. */
export class TurnView {
  /** @type {RetryControls | undefined} */
  #controls;

  /**
   * @param {HTMLElement} log
   * @param {string} question
   * @param {() => void} whenGrown
   */
  constructor(log, question, whenGrown) {
    this.log = log;
    this.whenGrown = whenGrown;
    /** @type {HTMLElement[]} */
    this.parts = [];
    const { text } = this.#part('question', 'You');
    text.textContent = question;
  }

  /** @param {string} modelName */
  beginAnswer(modelName) {
    this.#controls?.remove();
    this.answer = this.#part('answer', modelName);
    this.answer.article.classList.add('waiting');
    this.answer.note.textContent = 'Waiting for response…';
    this.text = new GrowingText(this.answer.text, this.whenGrown);
    this.whenGrown();
  }

  /** @param {string} text */
  add(text) {
    if (this.answer?.article.classList.replace('waiting', 'growing')) this.answer.note.textContent = '';
    this.text?.add(text);
  }

  /** @param {string} note the text below the answer. */
  endAnswer(note) {
    this.text?.flush();
    this.answer?.article.classList.remove('waiting', 'growing');
    if (this.answer !== undefined) this.answer.note.textContent = note;
    this.whenGrown();
  }

  /**
   * @param {import('../answer/failure-advice.js').Advice} advice
   * @param {string} note
   * @param {{ retry: () => void, edit: () => void, canRetryNow: () => void }} actions
   */
  failAnswer(advice, note, actions) {
    this.endAnswer(note);
    if (this.answer === undefined) return;
    this.answer.article.classList.add('failed');
    this.#controls = new RetryControls(this.answer.article, advice, actions);
    this.whenGrown();
  }

  /** Removes the answer if it has no text. Called before the same question is asked again. */
  dropEmptyAnswer() {
    if (this.answer?.text.textContent === '') this.answer.article.remove();
  }

  /** Removes the retry buttons. Called when another turn follows. */
  settle() {
    this.#controls?.settle();
  }

  remove() {
    this.#controls?.remove();
    for (const part of this.parts) part.remove();
  }

  /**
   * @param {'question' | 'answer'} kind
   * @param {string} who
   */
  #part(kind, who) {
    const article = document.createElement('article');
    article.className = `turn ${kind}`;
    const heading = document.createElement('h3');
    heading.textContent = who;
    const text = document.createElement('div');
    text.className = 'turn-text';
    text.dir = 'auto';
    const note = document.createElement('p');
    note.className = 'turn-note';
    article.append(heading, text, note);
    this.parts.push(article);
    this.log.append(article);
    return { article, text, note };
  }
}
