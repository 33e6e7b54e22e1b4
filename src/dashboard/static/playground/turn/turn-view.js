import { receiptFacts } from '../../client/receipt-facts.js';
import { button, create } from '../elements.js';
import { GrowingText } from '../markdown/growing-text.js';
import { parseMarkdown, parsePlain } from '../markdown/parse.js';
import { RetryControls } from './retry-controls.js';

/**
 * What the user can do with a turn.
 *
 * @typedef {object} TurnActions
 * @property {() => void} edit
 * @property {() => void} retry
 * @property {() => void} canRetryNow called when the time to wait before a retry is over
 * @property {() => void} regenerate
 * @property {() => void} continue
 * @property {() => void} showCode
 */

/** The elements on the page that show a turn. */
export class TurnView {
  /** @type {RetryControls | undefined} */
  #controls;
  /** @type {ReturnType<typeof part> | undefined} */
  #answer;
  /** Answers that broke off before the question was asked again. @type {HTMLElement[]} */
  #broken = [];
  /** @type {GrowingText | undefined} */
  #growing;

  /**
   * @param {HTMLElement} log
   * @param {import('../conversation.js').Turn} turn
   * @param {TurnActions} actions
   * @param {() => void} whenGrown
   */
  constructor(log, turn, actions, whenGrown) {
    this.log = log;
    this.turn = turn;
    this.actions = actions;
    this.whenGrown = whenGrown;
    this.question = part(log, 'question', 'You');
    this.question.text.append(create('div', 'plain', turn.question));
    this.question.actions.append(
      copyButton('Copy question', () => turn.question),
      button('Edit', actions.edit),
    );
  }

  /** @param {boolean} showsMarkdown */
  beginAnswer(showsMarkdown) {
    this.#controls?.remove();
    this.#replaceAnswer();
    const answer = (this.#answer = part(this.log, 'answer', this.turn.modelName));
    (this.#broken.at(-1) ?? this.question.article).after(answer.article);
    answer.article.classList.add('waiting');
    answer.note.textContent = 'Waiting for response…';
    this.showAs(showsMarkdown);
    this.whenGrown();
  }

  /** Shows that more text of the answer is awaited. @param {boolean} showsMarkdown */
  continueAnswer(showsMarkdown) {
    this.#controls?.remove();
    this.#controls = undefined;
    const answer = this.#answer;
    if (answer === undefined) return;
    const hasText = this.turn.answer !== '';
    answer.article.classList.remove('failed', 'waiting', 'growing');
    answer.article.classList.add(hasText ? 'growing' : 'waiting');
    answer.note.textContent = hasText ? '' : 'Waiting for response…';
    answer.actions.replaceChildren();
    this.showAs(showsMarkdown);
    this.whenGrown();
  }

  /** Shows the state of the connection below the text. @param {string} text empty while there is a connection */
  showConnection(text) {
    if (this.#answer === undefined) return;
    this.#answer.connection.textContent = text;
    this.#answer.article.classList.toggle('disconnected', text !== '');
    this.whenGrown();
  }

  /** Removes the earlier answer. An answer that broke off after some text stays, because a new one may not come further. */
  #replaceAnswer() {
    const { article, text, actions } = this.#answer ?? {};
    if (article?.classList.contains('failed') && text?.textContent !== '') {
      this.#broken.push(article);
      actions?.remove();
    } else article?.remove();
  }

  /** Shows the answer as Markdown or as plain text. @param {boolean} showsMarkdown */
  showAs(showsMarkdown) {
    const answer = this.#answer;
    if (answer === undefined) return;
    this.#growing?.stop();
    answer.text.replaceChildren();
    answer.text.classList.toggle('plain', !showsMarkdown);
    this.#growing = new GrowingText(answer.text, showsMarkdown ? parseMarkdown : parsePlain, this.whenGrown);
    this.#growing.add(this.turn.answer);
    if (this.turn.state !== 'answering') this.#growing.finish();
  }

  /** @param {string} text */
  add(text) {
    if (this.#answer?.article.classList.replace('waiting', 'growing')) this.#answer.note.textContent = '';
    this.#growing?.add(text);
  }

  /** @param {string} note the text below the answer. */
  endAnswer(note) {
    const answer = this.#answer;
    if (answer === undefined) return;
    this.showConnection('');
    this.#growing?.finish();
    answer.article.classList.remove('waiting', 'growing');
    answer.note.textContent = note;
    this.refresh();
    this.whenGrown();
  }

  /** Shows the receipt, and the actions that are possible now. */
  refresh() {
    const { turn, actions } = this;
    const answer = this.#answer;
    if (answer === undefined) return;
    answer.actions.replaceChildren();
    if (turn.state === 'answering') return;
    const facts = turn.receipt === undefined ? [] : receiptFacts(turn.receipt);
    answer.receipt.textContent = facts.join(' · ');
    if (turn.receipt?.finish_reason === 'length') answer.note.textContent = 'Cut off at the token limit.';
    if (turn.isCutOff) answer.actions.append(button('Continue', actions.continue));
    if (turn.answer !== '') answer.actions.append(copyButton('Copy answer', () => turn.answer));
    if (turn.state !== 'failed') answer.actions.append(button('Regenerate', actions.regenerate));
    if (turn.request !== undefined) answer.actions.append(button('Code', actions.showCode));
  }

  /**
   * @param {import('../answer/failure-advice.js').Advice} advice
   * @param {string} note
   */
  failAnswer(advice, note) {
    this.endAnswer(note);
    if (this.#answer === undefined) return;
    this.#answer.article.classList.add('failed');
    this.#controls = new RetryControls(this.#answer.article, advice, this.actions);
    this.whenGrown();
  }

  /** Removes the retry buttons. Called when another turn follows. */
  settle() {
    this.#controls?.settle();
  }

  remove() {
    this.#controls?.remove();
    for (const article of this.#broken) article.remove();
    this.#answer?.article.remove();
    this.question.article.remove();
  }
}

/**
 * @param {HTMLElement} log
 * @param {'question' | 'answer'} kind
 * @param {string} who
 */
function part(log, kind, who) {
  const text = create('div', { className: 'turn-text', dir: 'auto' });
  const note = create('p', 'turn-note');
  const connection = create('p', 'turn-connection notice');
  const receipt = create('p', 'receipt');
  const actions = create('div', 'turn-actions');
  const parts = [create('h3', '', who), text, note, connection, receipt, actions];
  const article = create('article', `turn ${kind}`, ...parts);
  log.append(article);
  return { article, text, note, connection, receipt, actions };
}

/**
 * @param {string} label
 * @param {() => string} text
 */
function copyButton(label, text) {
  const made = button('Copy', () => {
    navigator.clipboard.writeText(text()).then(
      () => (made.textContent = 'Copied'),
      () => (made.textContent = 'Copying is not allowed'),
    );
  });
  made.setAttribute('aria-label', label);
  return made;
}
