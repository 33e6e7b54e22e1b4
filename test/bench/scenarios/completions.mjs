// POST /chat/completions compared with POST /chat/stream, in the scenarios `full` and `short`.
import { full } from './full.mjs';
import { short } from './short.mjs';

/**
 * @param {import('./scenario.mjs').Scenario} scenario
 * @param {number} documented
 * @returns {import('./scenario.mjs').Scenario}
 */
const ofCompletions = ({ name, rows, ...scenario }, documented) => ({
  ...scenario,
  name: `${name}-completions`,
  sides: ['gateway', 'completions'],
  // The rate depends on the client of the bench, which parses each chunk of one of the two formats.
  rows: rows
    .filter(({ id }) => id !== 'rate')
    .map(({ id, label }) => ({
      id,
      label: `chat/completions to chat/stream, ${label}`,
      ...(id === 'cpu' && { target: 1.15, documented }),
    })),
});

export const fullCompletions = ofCompletions(full, 1.03);
export const shortCompletions = ofCompletions(short, 1);
