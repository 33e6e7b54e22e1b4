import { offerReadouts } from './usage/charts.js';

const EVERY_MS = 10_000;

/** Replaces the content of the page with that of now. Without a connection, the content stays as it is. */
async function update() {
  const shown = document.getElementById('status');
  if (document.hidden || shown === null) return;
  const response = await fetch(location.href).catch(() => undefined);
  if (response?.ok !== true) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const next = page.getElementById('status');
  // A table that the user reads with the keyboard must not lose the focus, and a chart not the values that the user looks at.
  if (next === null || shown.contains(document.activeElement)) return;
  if (shown.querySelector('.chart-readout:not(:empty)') !== null) return;
  for (const details of next.querySelectorAll('details')) {
    const before = document.getElementById(details.id);
    if (before instanceof HTMLDetailsElement) details.open = before.open;
  }
  shown.replaceWith(next);
  offerReadouts(next);
}

setInterval(() => void update(), EVERY_MS);
