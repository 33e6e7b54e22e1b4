import { showLocalTimes } from './times.js';
import { offerReadouts } from './usage/charts.js';

const EVERY_MS = 10_000;

/** Replaces the content of the page with that of now. Says so if this is not possible. */
async function update() {
  const shown = document.getElementById('status');
  if (document.hidden || shown === null) return;
  const response = await fetch(location.href).catch(() => undefined);
  if (response?.ok !== true || response.redirected) return tell(shown, failureText(response));
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const next = page.getElementById('status');
  // The user looks at the values of a chart.
  if (next === null || shown.querySelector('.chart-readout:not(:empty)') !== null) return;
  for (const details of next.querySelectorAll('details')) {
    const before = document.getElementById(details.id);
    if (before instanceof HTMLDetailsElement) details.open = before.open;
  }
  const focused = indexOfFocus(shown);
  const places = scrollers(shown).map(({ scrollLeft }) => scrollLeft);
  shown.replaceWith(next);
  // A table that the user reads with the keyboard keeps the focus and its place.
  for (const [index, scroller] of scrollers(next).entries()) scroller.scrollLeft = places[index] ?? 0;
  focusable(next)[focused]?.focus({ preventScroll: true });
  offerReadouts(next);
  showLocalTimes(next);
}

/** @param {Element} shown @param {string} text */
function tell(shown, text) {
  const state = shown.querySelector('#updates');
  if (state !== null) state.textContent = text;
}

/** @param {Response | undefined} response */
function failureText(response) {
  if (response?.redirected === true) return 'You are signed out, so the page no longer updates. Reload it to sign in.';
  const why = response === undefined ? 'The service cannot be reached' : `The service answers ${response.status}`;
  return `${why}: the page is not up to date. It tries again every 10 seconds.`;
}

/** @param {ParentNode} parent @returns {HTMLElement[]} */
const focusable = (parent) => [...parent.querySelectorAll('a, button, input, summary, [tabindex]')].filter(isHtml);

/** @param {ParentNode} parent @returns {HTMLElement[]} */
const scrollers = (parent) => [...parent.querySelectorAll('[tabindex]')].filter(isHtml);

/** @param {Element} element @returns {element is HTMLElement} */
const isHtml = (element) => element instanceof HTMLElement;

/** @param {ParentNode} parent */
const indexOfFocus = (parent) => focusable(parent).findIndex((element) => element === document.activeElement);

setInterval(() => void update(), EVERY_MS);
