import { load, readStream } from '../client.mjs';
import { Connection } from '../connection.mjs';
import { sleep } from '../processes.mjs';
import { firstRequests, providerIsIdle } from './scenario.mjs';

/** @type {import('./scenario.mjs').Scenario} */
export const idle = {
  name: 'idle',
  fresh: true,
  rows: [
    { id: 'rss', label: 'idle streams: RSS KB per stream', target: 0.9 },
    { id: 'collected', label: 'idle streams: the same after a forced collection' },
    { id: 'before', label: 'idle streams: RSS MB before' },
    { id: 'cpu', label: 'idle streams: CPU % of one core', limit: 0.1 },
    { id: 'cpuBefore', label: 'idle streams: CPU % of one core before' },
  ],
  scripts: ['idle', 'short-20'],
  size: { count: 2000, settleMs: 3000, idleMs: 20_000, warmUps: 500 },
  smokeSize: { count: 50, settleMs: 300, idleMs: 300, warmUps: 20 },
  warmUp: firstRequests,
  measure: async (stand, server, { count, settleMs, idleMs }) => {
    const cpuBefore = await cpuPercentOf(server, idleMs);
    const before = await server.process.usage('collect');
    const ended = [];
    const connections = await load(server, { count, width: 32 }, () => idleStream(server, ended));
    await sleep(settleMs);
    const cpu = await cpuPercentOf(server, idleMs);
    const open = await server.process.usage();
    const collected = await server.process.usage('collect');
    const { streams } = await stand.provider.counters();
    if (ended.length > 0 || streams !== count) {
      throw new Error(`${streams} of ${count} idle streams are open; ended: ${JSON.stringify(ended[0])}`);
    }
    for (const connection of connections) connection.close();
    await providerIsIdle(stand);
    return {
      rss: (open.rssKb - before.rssKb) / count,
      collected: (collected.rssKb - before.rssKb) / count,
      before: before.rssKb / 1024,
      cpu,
      cpuBefore,
    };
  },
};

async function cpuPercentOf(server, durationMs) {
  const before = await server.process.usage();
  await sleep(durationMs);
  const after = await server.process.usage();
  return (after.cpuMicros - before.cpuMicros) / durationMs / 10;
}

/** Opens a stream and waits for its only chunk. If the stream ends too early, its result is added to `ended`. */
export async function idleStream(server, ended) {
  const connection = await Connection.open(server);
  let left = false;
  await new Promise((resolve) => {
    void readStream(connection, server, 'idle', { onChunk: resolve }).then((result) => {
      if (!left) ended.push(result);
      resolve();
    });
  });
  return {
    close: () => {
      left = true;
      connection.close();
    },
  };
}
