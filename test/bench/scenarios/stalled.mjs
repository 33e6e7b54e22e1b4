import { readStream } from '../client.mjs';
import { Connection } from '../connection.mjs';
import { sleep } from '../processes.mjs';
import { firstRequests, providerIsIdle } from './scenario.mjs';

/** @type {import('./scenario.mjs').Scenario} */
export const stalled = {
  name: 'stalled',
  fresh: true,
  rows: [
    { id: 'peak', label: 'stalled reader: peak RSS MB', target: 1.6 },
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
