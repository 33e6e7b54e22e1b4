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
 * @property {(maxTokens: number) => void} retryWith asks again with this limit
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
  /** @type {HTMLElement | undefined} */
  #branches;
  /** Follows the size of the answer, also of parts that the browser lays out later. */
  #sizes;

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
    this.#sizes = new ResizeObserver(whenGrown);
    this.question = part(log, 'question', 'You');
    this.question.text.append(create('div', { className: 'plain', dir: 'auto' }, turn.question));
    this.question.actions.append(
      copyButton('Copy question', () => turn.question),
      button('Edit', actions.edit),
    );
  }

  /**
   * Shows which of the branches this is, with buttons to the one before and the one after it.
   *
   * @param {number} index
   * @param {number} count
   * @param {(step: -1 | 1) => void} show
   */
  showBranches(index, count, show) {
    this.#branches?.remove();
    if (count < 2) return;
    const before = button('‹', () => show(-1));
    const after = button('›', () => show(1));
    before.setAttribute('aria-label', 'Previous branch');
    after.setAttribute('aria-label', 'Next branch');
    before.disabled = index === 0;
    after.disabled = index === count - 1;
    this.#branches = create('span', 'branches', before, create('small', '', `Branch ${index + 1} of ${count}`), after);
    this.question.actions.append(this.#branches);
  }

  /** Puts the focus on the button that was pressed in another branch, or on the other one. @param {number} step */
  focusBranches(step) {
    const [before, after] = this.#branches?.querySelectorAll('button') ?? [];
    const [pressed, other] = step < 0 ? [before, after] : [after, before];
    (pressed?.disabled === true ? other : pressed)?.focus();
  }

  /** @param {boolean} showsMarkdown */
  beginAnswer(showsMarkdown) {
    this.#controls?.remove();
    this.#replaceAnswer();
    const answer = (this.#answer = part(this.log, 'answer', this.turn.modelName));
    (this.#broken.at(-1) ?? this.question.article).after(answer.article);
    this.#sizes.observe(answer.text);
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
    this.#growing = new GrowingText(answer.text, showsMarkdown ? parseMarkdown : parsePlain);
    this.#growing.add(this.turn.answer);
    if (this.turn.state !== 'answering') void this.finishText();
  }

  /** Shows the rest of the text. The facts and buttons below it appear after that. */
  async finishText() {
    const answer = this.#answer;
    answer?.article.classList.add('finishing');
    await this.#growing?.finish();
    answer?.article.classList.remove('finishing');
    this.whenGrown();
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
    void this.finishText();
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
    this.#growing?.stop();
    this.#sizes.disconnect();
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
  const text = create('div', 'turn-text');
  const note = create('p', 'turn-note');
  const connection = create('p', 'turn-connection notice');
  const receipt = create('p', 'receipt');
  const actions = create('div', 'turn-actions');
  const parts = [create('h2', '', who), text, note, connection, receipt, actions];
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
