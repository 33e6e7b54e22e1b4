import { assertComplete, readStream } from '../client.mjs';
import { Connection } from '../connection.mjs';
import { sleep } from '../processes.mjs';
import { sharedNow } from '../scripts.mjs';
import { median, quantile } from '../statistics.mjs';
import { completeStreams } from './scenario.mjs';

/** @type {import('./scenario.mjs').Scenario} */
export const paced = {
  name: 'paced',
  fresh: false,
  sides: ['relay', 'gateway', 'nest', 'leanNest'],
  rows: [
    { id: 'cpu', label: '500 paced streams: CPU µs per provider chunk', target: 1.3, documented: 1.32 },
    { id: 'p50', label: '500 paced streams: p50 lateness, ms' },
    { id: 'p99', label: '500 paced streams: p99 lateness, ms', target: 1.5 },
    { id: 'firstChunk', label: '500 paced streams: p99 first chunk, ms', target: 2.2 },
  ],
  scripts: ['paced-140x50', 'paced-20x50'],
  size: { script: 'paced-140x50', count: 500, openingMs: 1000, windowMs: 3500 },
  smokeSize: { script: 'paced-20x50', count: 20, openingMs: 100, windowMs: 500 },
  warmUp: async (_stand, server, { script, count }) => {
    await completeStreams(server, script, { count, width: count });
  },
  measure: async (stand, server, size) => {
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const measurement = await measureOnce(stand, server, size);
      if (measurement !== undefined) return measurement;
    }
    throw new Error('Too busy a machine: the first paced streams ended before the last were open long enough.');
  },
};

/**
 * Opens all streams over `openingMs`, and measures while all streams are open and none has ended. The result is therefore the
 * cost of a chunk. The scenario with short streams measures the cost of a request.
 *
 * @returns {Promise<Record<string, number> | undefined>} undefined if a stream ended before the measurement was over
 */
async function measureOnce(stand, server, { script, count, openingMs, windowMs }) {
  const latencies = [];
  let from = Infinity;
  let to = Infinity;
  const onStamp = (latencyMs, sentAt) => {
    if (sentAt >= from && sentAt < to) latencies.push(latencyMs);
  };
  let open = 0;
  let onAllOpen;
  const allOpen = new Promise((resolve) => (onAllOpen = resolve));
  const streams = Array.from({ length: count }, async (_, index) => {
    await sleep((index / count) * openingMs);
    const connection = await Connection.open(server);
    let isOpen = false;
    const onChunk = () => {
      if (isOpen) return;
      isOpen = true;
      open += 1;
      if (open === count) onAllOpen();
    };
    const result = await readStream(connection, server, script, { onStamp, onChunk });
    connection.close();
    return result;
  });
  const streamsEnd = Promise.all(streams);
  const reading = async () => ({ ...(await server.process.usage()), ...(await stand.provider.counters()) });
  // If a stream breaks off early, `allOpen` may never resolve. The end of all streams then reports the error.
  await Promise.race([allOpen, streamsEnd.then(assertComplete)]);
  const before = await reading();
  from = sharedNow();
  await sleep(windowMs);
  to = sharedNow();
  const after = await reading();
  const results = await streamsEnd;
  assertComplete(results);
  if (after.streams !== count) return undefined;
  return {
    cpu: (after.cpuMicros - before.cpuMicros) / (after.events - before.events),
    p50: median(latencies),
    p99: quantile(latencies, 0.99),
    firstChunk: quantile(
      results.map(({ firstChunkMs }) => firstChunkMs),
      0.99,
    ),
  };
}
