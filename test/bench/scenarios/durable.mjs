// Durable streams: new ones, and the same ones read again. In the memory of the process, and in Redis.
import { randomUUID } from 'node:crypto';
import { completeStreams } from './scenario.mjs';
import { measureStreams, short } from './short.mjs';

/**
 * @param {string} name
 * @param {readonly import('./scenario.mjs').Side[]} sides
 * @param {string} where
 * @param {object} [smokeSize]
 * @returns {import('./scenario.mjs').Scenario}
 */
const durableScenario = (name, sides, where, smokeSize) => ({
  ...short,
  name,
  sides,
  rows: [
    { id: 'cpu', label: `usual and new durable streams, ${where}: CPU µs per request` },
    { id: 'again', label: `usual streams and durable streams that are read again, ${where}: CPU µs per request` },
  ],
  size: { count: 1000, width: 32 },
  smokeSize,
  warmUp: async (stand, server, size) => {
    await completeStreams(server, 'short-20', { ...size, count: 4 * size.count });
    if (server.isDurable) await measure(stand, server, size);
  },
  measure,
});

async function measure(stand, server, size) {
  if (!server.isDurable) {
    const { cpu } = await short.measure(stand, server, size);
    return { cpu, again: cpu };
  }
  const keys = Array.from({ length: size.count }, () => randomUUID());
  const readAll = (left = [...keys]) =>
    measureStreams(server, size, () => completeStreams(server, 'short-20', size, () => left.pop()));
  const { cpu } = await readAll();
  const { requests } = await stand.provider.counters();
  const again = await readAll();
  if ((await stand.provider.counters()).requests !== requests) throw new Error('A durable stream began once more.');
  return { cpu, again: again.cpu };
}

export const durable = durableScenario('durable', ['gateway', 'durable'], 'in memory', { count: 100, width: 8 });
export const durableOnRedis = durableScenario('durable-redis', ['onRedis', 'durableOnRedis'], 'in Redis');
