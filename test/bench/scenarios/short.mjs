import { median } from '../statistics.mjs';
import { completeStreams, cpuMicrosOf } from './scenario.mjs';

/** @type {import('./scenario.mjs').Scenario} */
export const short = {
  name: 'short',
  fresh: false,
  sides: ['relay', 'gateway', 'nest', 'leanNest'],
  rows: [
    { id: 'cpu', label: 'short streams: CPU µs per request', target: 3, documented: 5.67 },
    { id: 'rate', label: 'short streams: requests per s' },
    { id: 'firstChunk', label: 'short streams: p50 first chunk, ms', target: 3.2 },
  ],
  scripts: ['short-20'],
  size: { count: 4000, width: 32 },
  smokeSize: { count: 400, width: 8 },
  warmUp: async (_stand, server, size) => {
    await completeStreams(server, 'short-20', size);
  },
  measure: (_stand, server, size) => measureStreams(server, size, () => completeStreams(server, 'short-20', size)),
};

/**
 * Measures the cost of a stream.
 *
 * @param {() => Promise<import('../client.mjs').StreamResult[]>} run runs `size.count` streams to their end
 */
export async function measureStreams(server, size, run) {
  let results = [];
  let elapsedMs = 0;
  const cpu = await cpuMicrosOf(server, async () => {
    const startedAt = performance.now();
    results = await run();
    elapsedMs = performance.now() - startedAt;
  });
  return {
    cpu: cpu / size.count,
    rate: (size.count / elapsedMs) * 1000,
    firstChunk: median(results.map(({ firstChunkMs }) => firstChunkMs)),
  };
}
