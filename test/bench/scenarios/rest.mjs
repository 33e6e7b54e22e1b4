import { sleep } from '../processes.mjs';

/** @type {import('./scenario.mjs').Scenario} */
export const rest = {
  name: 'rest',
  fresh: true,
  rows: [
    { id: 'rss', label: 'at rest, before the first request: RSS MB', limit: 115, documented: 1.98 },
    { id: 'collected', label: 'at rest: RSS MB after a forced collection' },
    { id: 'heap', label: 'at rest: MB of the JavaScript heap after a forced collection' },
  ],
  scripts: [],
  size: { settleMs: 3000 },
  smokeSize: { settleMs: 300 },
  warmUp: async (_stand, _server, { settleMs }) => {
    await sleep(settleMs);
  },
  measure: async (_stand, server) => {
    const { rssKb } = await server.process.usage();
    const collected = await server.process.usage('collect');
    return { rss: rssKb / 1024, collected: collected.rssKb / 1024, heap: collected.heapKb / 1024 };
  },
};
