import { waitText } from '../answer/failure-advice.js';
import { button, create } from '../elements.js';

/** Shows a failure, and the buttons to try again or to edit the message. */
export class RetryControls {
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  /**
   * @param {HTMLElement} parent
   * @param {import('../answer/failure-advice.js').Advice} advice
   * @param {Pick<import('./turn-view.js').TurnActions, 'retry' | 'retryWith' | 'edit' | 'canRetryNow'>} actions
   */
  constructor(parent, { title, text, lines, link, canRetry, retryLabel, waitSeconds, maxTokens, requestId }, actions) {
    const retry = button(retryLabel, actions.retry, 'secondary');
    const lower = button(
      `Set max tokens to ${maxTokens} and retry`,
      () => actions.retryWith(maxTokens ?? 0),
      'secondary',
    );
    const edit = button('Edit message', actions.edit, 'secondary');
    this.element = create(
      'div',
      'failure notice bad',
      create('p', '', create('strong', '', title), create('br'), text),
      ...(lines.length === 0 ? [] : [create('ul', '', ...lines.map((line) => create('li', '', line)))]),
      // Opens in a new tab, because the conversation exists only in this tab.
      ...(link === undefined ? [] : [create('p', '', newTabLink(link.text, link.href))]),
      create('p', 'actions', ...(maxTokens === undefined ? [] : [lower]), ...(canRetry ? [retry] : []), edit),
    );
    if (canRetry && waitSeconds !== undefined) this.#countDown(retry, waitSeconds, actions.canRetryNow);
    if (requestId !== undefined) this.element.append(requestLine(requestId));
    parent.append(this.element);
  }

  remove() {
    clearInterval(this.#timer);
    this.element.remove();
  }

  /** Removes the buttons, because a later turn exists now. The text of the failure stays. */
  settle() {
    clearInterval(this.#timer);
    for (const part of this.element.querySelectorAll('.actions, .wait')) part.remove();
  }

  /**
   * @param {HTMLButtonElement} retry
   * @param {number} seconds
   * @param {() => void} whenOver
   */
  #countDown(retry, seconds, whenOver) {
    const until = Date.now() + seconds * 1000;
    const wait = create('p', 'wait');
    this.element.append(wait);
    retry.disabled = true;
    const show = () => {
      const left = until - Date.now();
      if (left > 0) {
        wait.textContent = waitText(left, new Date(until), new Date());
        return;
      }
      clearInterval(this.#timer);
      wait.remove();
      retry.disabled = false;
      whenOver();
    };
    this.#timer = setInterval(show, 1000);
    show();
  }
}

/** Operators get a link to the request. @param {string} requestId */
function requestLine(requestId) {
  const list = document.querySelector('nav a[href="/operator/requests"]');
  const isOperator = list instanceof HTMLAnchorElement;
  const path = isOperator ? `${list.pathname}?request=${encodeURIComponent(requestId)}` : '';
  return create('small', '', 'Request ID: ', isOperator ? newTabLink(requestId, path) : requestId);
}

/**
 * @param {string} text
 * @param {string} href
 */
function newTabLink(text, href) {
  return create('a', { href, target: '_blank', rel: 'noopener' }, text);
}
