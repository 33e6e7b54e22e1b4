import { assertComplete, loadAtRate, readStream } from '../client.mjs';
import { sleep } from '../processes.mjs';
import { quantile } from '../statistics.mjs';
import { measureStreams, short } from './short.mjs';
import { completeStreams } from './scenario.mjs';

const WANTED_PER_SECOND = 1_000;
/** The part of the highest possible rate at which the latency is measured, if the machine cannot serve the wanted rate. */
const PART_OF_HIGHEST_RATE = 0.7;

/**
 * Three replicas on PostgreSQL and Redis, compared with one replica on SQLite. The latency is measured at the same rate for both
 * if the machine can serve it: the rate is a row of its own. @type {import('./scenario.mjs').Scenario}
 */
export const replicas = {
  ...short,
  name: 'replicas',
  fresh: true,
  sides: ['gateway', 'replicas'],
  rows: [
    { id: 'cpu', label: 'one replica on SQLite, and three on PostgreSQL and Redis: CPU µs per request' },
    { id: 'statements', label: '… SQL statements per request' },
    { id: 'commands', label: '… Redis commands per request' },
    { id: 'perSecond', label: '… requests per s, for the next row' },
    { id: 'p99', label: '… p99 of the first chunk, ms' },
  ],
  size: { count: 3000, width: 32, seconds: 8 },
  smokeSize: undefined,
  measure: async (_stand, server, size) => {
    const before = server.traffic?.();
    const { cpu, rate } = await measureStreams(server, size, () => completeStreams(server, 'short-20', size));
    const after = server.traffic?.();
    const of = (kind) => (after === undefined ? NaN : (after[kind] - before[kind]) / size.count);
    const perSecond = Math.round(Math.min(WANTED_PER_SECOND, PART_OF_HIGHEST_RATE * rate));
    const atRate = { count: perSecond * size.seconds, perSecond };
    const results = await loadAtRate(server, atRate, (connection) => readStream(connection, server, 'short-20'));
    assertComplete(results);
    const p99 = quantile(
      results.map(({ firstChunkMs }) => firstChunkMs),
      0.99,
    );
    await sleep(500);
    return { cpu, statements: of('statements'), commands: of('commands'), perSecond, p99 };
  },
};
