import { completeStreams } from './scenario.mjs';

/** @type {import('./scenario.mjs').Scenario} */
export const start = {
  name: 'start',
  fresh: true,
  rows: [{ id: 'cpu', label: 'start to the first whole answer: CPU s', limit: 0.7 }],
  scripts: ['short-20'],
  size: { count: 1, width: 1 },
  smokeSize: { count: 1, width: 1 },
  warmUp: async () => {},
  measure: async (_stand, server, size) => {
    await completeStreams(server, 'short-20', size);
    return { cpu: (await server.process.usage()).cpuMicros / 1e6 };
  },
};
