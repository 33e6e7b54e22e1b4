import { assertComplete, readStream } from '../client.mjs';
import { Connection } from '../connection.mjs';
import { sleep } from '../processes.mjs';
import { firstRequests, providerIsIdle } from './scenario.mjs';

/** @type {import('./scenario.mjs').Scenario} */
export const stalled = {
  name: 'stalled',
  fresh: true,
  rows: [
    { id: 'peak', label: 'stalled reader: peak RSS MB', target: 1.6, documented: 2.11 },
    { id: 'growth', label: 'stalled reader: peak RSS MB over the RSS before' },
    { id: 'taken', label: 'stalled reader: MB taken from the provider' },
  ],
  scripts: ['flood-200000', 'short-20'],
  size: { stallMs: 4000, warmUps: 500 },
  smokeSize: { stallMs: 1000, warmUps: 20 },
  warmUp: firstRequests,
  measure: async (stand, server, { stallMs }) => {
    const before = await server.process.usage('reset-peak');
    const providerBefore = await stand.provider.counters();
    const connection = await Connection.open(server);
    connection.pause();
    const stream = readStream(connection, server, 'flood-200000');
    await sleep(stallMs);
    const after = await server.process.usage();
    const providerAfter = await stand.provider.counters();
    if (providerAfter.streams !== 1) throw new Error('The stalled stream is not open any more.');
    connection.close();
    await stream;
    await providerIsIdle(stand);
    return {
      peak: after.peakRssKb / 1024,
      growth: (after.peakRssKb - before.rssKb) / 1024,
      taken: (providerAfter.bytes - providerBefore.bytes) / 1e6,
    };
  },
};

/** Two stalled readers next to streams that are read. @type {import('./scenario.mjs').Scenario} */
export const stalledAmongOthers = {
  name: 'stalled-2',
  fresh: true,
  rows: [{ id: 'peak', label: 'two stalled readers next to 100 paced streams: peak RSS MB', target: 1.6 }],
  scripts: ['flood-200000', 'paced-140x50', 'short-20'],
  size: { stallMs: 4000, others: 100, warmUps: 500 },
  smokeSize: { stallMs: 1000, others: 10, warmUps: 20 },
  warmUp: firstRequests,
  measure: async (stand, server, { stallMs, others }) => {
    await server.process.usage('reset-peak');
    const read = Array.from({ length: others }, async () => {
      const connection = await Connection.open(server);
      const result = await readStream(connection, server, 'paced-140x50');
      connection.close();
      return result;
    });
    const stalledOnes = await Promise.all([Connection.open(server), Connection.open(server)]);
    const stalledStreams = stalledOnes.map((connection) => {
      connection.pause();
      return readStream(connection, server, 'flood-200000');
    });
    await sleep(stallMs);
    const { peakRssKb } = await server.process.usage();
    const { streams } = await stand.provider.counters();
    if (streams !== others + 2) throw new Error(`${streams} of ${others + 2} streams are open.`);
    for (const connection of stalledOnes) connection.close();
    assertComplete(await Promise.all(read));
    await Promise.all(stalledStreams);
    await providerIsIdle(stand);
    return { peak: peakRssKb / 1024 };
  },
};
