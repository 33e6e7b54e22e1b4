import { measureStreams, short } from './short.mjs';
import { completeStreams } from './scenario.mjs';

const scriptOf = ({ offersTools }) => (offersTools ? 'tools-20' : 'short-20');

/** `POST /chat/completions` with tools. The answer is a tool call in 20 pieces. @type {import('./scenario.mjs').Scenario} */
export const tools = {
  ...short,
  name: 'tools',
  sides: ['completions', 'tools'],
  rows: [{ id: 'cpu', label: 'chat/completions without and with tools: CPU µs per request' }],
  scripts: ['short-20', 'tools-20'],
  warmUp: async (_stand, server, size) => {
    await completeStreams(server, scriptOf(server), size);
  },
  measure: (_stand, server, size) =>
    measureStreams(server, size, () => completeStreams(server, scriptOf(server), size)),
};
