import { waitText } from '../answer/wait-text.js';

/** Shows a failure, and the buttons to try again or to edit the message. */
export class RetryControls {
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  /**
   * @param {HTMLElement} parent
   * @param {import('../answer/failure-advice.js').Advice} advice
   * @param {{ retry: () => void, edit: () => void, canRetryNow: () => void }} actions
   */
  constructor(parent, advice, actions) {
    this.element = document.createElement('div');
    this.element.className = 'failure';
    const title = document.createElement('strong');
    title.textContent = advice.title;
    const text = document.createElement('p');
    text.append(title, document.createElement('br'), advice.text);
    this.element.append(text, ...listOf(advice.lines), ...linkOf(advice.link));
    const buttons = document.createElement('p');
    buttons.className = 'actions';
    if (advice.canRetry) {
      const retry = button('Try again', actions.retry);
      buttons.append(retry);
      if (advice.waitSeconds !== undefined) this.#countDown(retry, advice.waitSeconds, actions.canRetryNow);
    }
    buttons.append(button('Edit message', actions.edit));
    this.element.append(buttons);
    if (advice.requestId !== undefined) this.element.append(small(`Request ID: ${advice.requestId}`));
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
    const wait = document.createElement('p');
    wait.className = 'wait';
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

/**
 * @param {string} text
 * @param {() => void} act
 */
function button(text, act) {
  const element = document.createElement('button');
  element.type = 'button';
  element.className = 'secondary';
  element.textContent = text;
  element.addEventListener('click', act);
  return element;
}

/** @param {string[]} lines */
function listOf(lines) {
  if (lines.length === 0) return [];
  const list = document.createElement('ul');
  for (const line of lines) {
    const item = document.createElement('li');
    item.textContent = line;
    list.append(item);
  }
  return [list];
}

/** @param {import('../answer/failure-advice.js').Advice['link']} link */
function linkOf(link) {
  if (link === undefined) return [];
  const paragraph = document.createElement('p');
  const anchor = document.createElement('a');
  anchor.href = link.href;
  // Opens in a new tab, because the conversation exists only in this tab.
  anchor.target = '_blank';
  anchor.rel = 'noopener';
  anchor.textContent = link.text;
  paragraph.append(anchor);
  return [paragraph];
}

/** @param {string} text */
function small(text) {
  const element = document.createElement('small');
  element.textContent = text;
  return element;
}
