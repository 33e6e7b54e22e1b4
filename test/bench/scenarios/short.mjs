import { median } from '../statistics.mjs';
import { completeStreams, cpuMicrosOf } from './scenario.mjs';

/** @type {import('./scenario.mjs').Scenario} */
export const short = {
  name: 'short',
  fresh: false,
  sides: ['relay', 'gateway', 'nest', 'leanNest'],
  rows: [
    { id: 'cpu', label: 'short streams: CPU µs per request', target: 2.8, documented: 5.67 },
    { id: 'rate', label: 'short streams: requests per s' },
    { id: 'firstChunk', label: 'short streams: p50 first chunk, ms' },
  ],
  scripts: ['short-20'],
  size: { count: 4000, width: 32 },
  smokeSize: { count: 400, width: 8 },
  warmUp: async (_stand, server, size) => {
    await completeStreams(server, 'short-20', size);
  },
  measure: async (_stand, server, size) => {
    let results = [];
    let elapsedMs = 0;
    const cpu = await cpuMicrosOf(server, async () => {
      const startedAt = performance.now();
      results = await completeStreams(server, 'short-20', size);
      elapsedMs = performance.now() - startedAt;
    });
    return {
      cpu: cpu / size.count,
      rate: (size.count / elapsedMs) * 1000,
      firstChunk: median(results.map(({ firstChunkMs }) => firstChunkMs)),
    };
  },
};
