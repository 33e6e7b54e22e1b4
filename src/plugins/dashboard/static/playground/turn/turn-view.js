import { receiptFacts } from '../../client/receipt-facts.js';
import { button, create } from '../elements.js';
import { GrowingText } from '../markdown/growing-text.js';
import { parseMarkdown, parsePlain } from '../markdown/parse.js';
import { RetryControls } from './retry-controls.js';
import { ToolCalls } from './tool-calls.js';

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
 * @property {(() => void) | undefined} choose goes on with this answer, if it stands beside another one
 * @property {() => void} sendResults sends the results of the called tools
 * @property {() => void} showCode
 */

/** The elements on the page that show a turn. */
export class TurnView {
  /** @type {RetryControls | undefined} */
  #controls;
  /** @type {ReturnType<typeof part> | undefined} */
  #answer;
  /** @type {ToolCalls | undefined} */
  #calls;
  /** The row with the answers of one or two models, each in a column. @type {HTMLElement} */
  #row;
  #column = create('div', 'answer-column');
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
   * @param {TurnView} [beside] the view of the turn with the same question, which has the answer of another model
   */
  constructor(log, turn, actions, whenGrown, beside) {
    this.turn = turn;
    this.actions = actions;
    this.whenGrown = whenGrown;
    this.#sizes = new ResizeObserver(whenGrown);
    this.question = beside === undefined ? part('question', turn.question === '' ? 'Tools' : 'You') : undefined;
    this.#row = beside === undefined ? create('div', 'answers') : beside.#row;
    this.#row.append(this.#column);
    if (this.question === undefined) this.#row.classList.add('beside');
    else {
      log.append(this.question.article, this.#row);
      this.#showQuestion(this.question);
    }
  }

  /** @param {ReturnType<typeof part>} question */
  #showQuestion({ text, actions }) {
    const { question, images } = this.turn;
    const isEmpty = question === '' && images.length === 0;
    text.append(create('div', { className: 'plain', dir: 'auto' }, isEmpty ? 'The results were sent.' : question));
    if (isEmpty) return;
    text.append(...images.map((src, index) => create('img', { src, alt: `Image ${index + 1}` })));
    actions.append(
      ...(question === '' ? [] : [copyButton('Copy question', () => question)]),
      button('Edit', this.actions.edit),
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
    this.question?.actions.append(this.#branches);
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
    const answer = (this.#answer = part('answer', this.turn.modelName));
    this.#column.append(answer.article);
    this.#calls = new ToolCalls(this.turn, this.actions.sendResults);
    answer.text.after(this.#calls.element);
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
    this.#calls?.clear();
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

  /** Shows the calls of tools as far as they have arrived. */
  showCalls() {
    this.#answer?.article.classList.replace('waiting', 'growing');
    this.#calls?.show();
    this.whenGrown();
  }

  /** @param {string} note the text below the answer. */
  endAnswer(note) {
    const answer = this.#answer;
    if (answer === undefined) return;
    this.showConnection('');
    void this.finishText();
    answer.article.classList.remove('waiting', 'growing');
    answer.note.textContent = note;
    this.#calls?.show();
    if (this.turn.isSentAlong) this.#calls?.askForResults();
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
    if (actions.choose !== undefined) answer.actions.append(button('Continue with this answer', actions.choose));
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

  /** Removes the retry buttons and the fields for results. Called when another turn follows. */
  settle() {
    this.#controls?.settle();
    this.#calls?.settle();
  }

  remove() {
    this.#growing?.stop();
    this.#sizes.disconnect();
    this.#controls?.remove();
    this.#column.remove();
    if (this.question === undefined) return;
    this.#row.remove();
    this.question.article.remove();
  }
}

/**
 * @param {'question' | 'answer'} kind
 * @param {string} who
 */
function part(kind, who) {
  const text = create('div', 'turn-text');
  const note = create('p', 'turn-note');
  const connection = create('p', 'turn-connection notice');
  const receipt = create('p', 'receipt');
  const actions = create('div', 'turn-actions');
  const parts = [create('h2', '', who), text, note, connection, receipt, actions];
  const article = create('article', `turn ${kind}`, ...parts);
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
