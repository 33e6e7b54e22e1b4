import { short } from './short.mjs';

/** @type {import('./scenario.mjs').Scenario} */
export const budgeted = {
  ...short,
  name: 'budgeted',
  sides: ['gateway', 'budgeted', 'limitedKey'],
  rows: [{ id: 'cpu', label: 'service for accounts without and with a budget: CPU µs per request', target: 1.06 }],
};
