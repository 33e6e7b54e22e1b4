import { assertComplete, readStream } from '../client.mjs';
import { Connection } from '../connection.mjs';
import { median, quantile } from '../statistics.mjs';
import { completeStreams } from './scenario.mjs';

/** All streams begin at the same moment, on open connections. @type {import('./scenario.mjs').Scenario} */
export const begin = {
  name: 'begin',
  fresh: false,
  sides: ['relay', 'gateway', 'nest', 'leanNest'],
  rows: [
    { id: 'p50', label: '500 streams at once: p50 first chunk, ms' },
    { id: 'p99', label: '500 streams at once: p99 first chunk, ms', target: 2.2 },
  ],
  scripts: ['paced-20x50'],
  size: { script: 'paced-20x50', count: 500 },
  smokeSize: { script: 'paced-20x50', count: 20 },
  warmUp: async (_stand, server, { script, count }) => {
    await completeStreams(server, script, { count, width: count });
  },
  measure: async (_stand, server, { script, count }) => {
    const connections = await Promise.all(Array.from({ length: count }, () => Connection.open(server)));
    const results = await Promise.all(connections.map((connection) => readStream(connection, server, script)));
    for (const connection of connections) connection.close();
    assertComplete(results);
    const firstChunksMs = results.map(({ firstChunkMs }) => firstChunkMs);
    return { p50: median(firstChunksMs), p99: quantile(firstChunksMs, 0.99) };
  },
};
