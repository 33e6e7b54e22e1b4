import { short } from './short.mjs';

/** @type {import('./scenario.mjs').Scenario} */
export const observed = {
  ...short,
  name: 'observed',
  sides: ['unobserved', 'observed'],
  rows: [{ id: 'cpu', label: 'service without and with ledger, metrics and logs: CPU µs per request', target: 1.05 }],
};
