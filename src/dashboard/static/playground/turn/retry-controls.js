import { waitText } from '../answer/wait-text.js';
import { button, create } from '../elements.js';

/** Shows a failure, and the buttons to try again or to edit the message. */
export class RetryControls {
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  /**
   * @param {HTMLElement} parent
   * @param {import('../answer/failure-advice.js').Advice} advice
   * @param {Pick<import('./turn-view.js').TurnActions, 'retry' | 'edit' | 'canRetryNow'>} actions
   */
  constructor(parent, { title, text, lines, link, canRetry, retryLabel, waitSeconds, requestId }, actions) {
    this.element = create('div', 'failure notice bad');
    const message = create('p');
    message.append(create('strong', '', title), create('br'), text);
    this.element.append(message);
    if (lines.length > 0) {
      const list = create('ul');
      list.append(...lines.map((line) => create('li', '', line)));
      this.element.append(list);
    }
    if (link !== undefined) {
      // Opens in a new tab, because the conversation exists only in this tab.
      const anchor = Object.assign(create('a', '', link.text), { href: link.href, target: '_blank', rel: 'noopener' });
      const paragraph = create('p');
      paragraph.append(anchor);
      this.element.append(paragraph);
    }
    const buttons = create('p', 'actions');
    if (canRetry) {
      const retry = button(retryLabel, actions.retry, 'secondary');
      buttons.append(retry);
      if (waitSeconds !== undefined) this.#countDown(retry, waitSeconds, actions.canRetryNow);
    }
    buttons.append(button('Edit message', actions.edit, 'secondary'));
    this.element.append(buttons);
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
  const line = create('small', '', 'Request ID: ');
  const list = document.querySelector('nav a[href="/operator/requests"]');
  if (!(list instanceof HTMLAnchorElement)) line.append(requestId);
  else {
    const link = create('a', '', requestId);
    link.href = `${list.pathname}?request=${encodeURIComponent(requestId)}`;
    link.target = '_blank';
    line.append(link);
  }
  return line;
}
