import { timeText } from './client/time-text.js';

/**
 * Shows all times in the time zone of the browser. The service sends them in UTC, which a pointer on a time shows.
 *
 * @param {ParentNode} root
 */
export function showLocalTimes(root = document) {
  for (const element of root.querySelectorAll('[data-shows]')) {
    const parts = /** @type {import('../../../client/time-text.js').TimeParts} */ (element.getAttribute('data-shows'));
    const at = new Date(element.getAttribute('datetime') ?? element.getAttribute('data-at') ?? '');
    const [sent, local] = [timeText(at, parts, 'UTC'), timeText(at, parts)];
    if (sent === local) continue;
    element.textContent = element.textContent?.replace(sent, local) ?? '';
    if (element instanceof HTMLTimeElement) element.title = sent;
  }
}

showLocalTimes();
