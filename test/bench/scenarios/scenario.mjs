// The type of a scenario, and functions that several scenarios share.
import { assertComplete, load, readStream } from '../client.mjs';
import { sleep } from '../processes.mjs';

/** @typedef {import('../servers.mjs').Server} Server */
/** @typedef {import('../servers.mjs').Stand} Stand */

/**
 * @typedef {'relay' | 'gateway' | 'completions' | 'tools' | 'unobserved' | 'observed' | 'budgeted' | 'limitedKey' | 'durable' |
 *   'onRedis' | 'durableOnRedis' | 'replicas' | 'nest' | 'leanNest'} Side
 */

/**
 * @typedef {object} Row one number of the report
 * @property {string} id the name of the value in a measurement
 * @property {string} label
 * @property {number} [target] the highest acceptable ratio of the second server to the first
 * @property {number} [documented] the ratio in docs/performance.md. `--smoke` fails above twice this ratio.
 * @property {number} [limit] the highest acceptable value of the second server
 */

/**
 * @typedef {object} Scenario
 * @property {string} name
 * @property {readonly [Side, Side, ...Side[]]} [sides] the servers to compare: all others are compared with the first, and only
 *   the second has targets. By default, the lean relay and the gateway.
 * @property {boolean} fresh whether each measurement needs new processes, because processes do not release used memory
 * @property {readonly Row[]} rows
 * @property {readonly string[]} scripts
 * @property {object} size
 * @property {object | undefined} smokeSize `undefined`: `--smoke` leaves the scenario out, because it takes too long
 * @property {(stand: Stand, server: Server, size: any) => Promise<void>} warmUp
 * @property {(stand: Stand, server: Server, size: any) => Promise<Record<string, number>>} measure
 */

// The measurement includes the work that a server does after the load has ended, such as writing records.
const AFTERMATH_MS = 250;

/** The CPU time that the server's process uses for an action, in microseconds. */
export async function cpuMicrosOf(server, action) {
  const before = await server.process.usage();
  await action();
  await sleep(AFTERMATH_MS);
  const after = await server.process.usage();
  return after.cpuMicros - before.cpuMicros;
}

/**
 * Runs streams to their end, and checks that all of them are complete.
 *
 * @param {() => string | undefined} [nextKey] returns the idempotency key of a durable stream
 */
export async function completeStreams(server, script, size, nextKey = () => undefined) {
  const results = await load(server, size, (connection) =>
    readStream(connection, server, script, { idempotencyKey: nextKey() }),
  );
  assertComplete(results);
  return results;
}

/** Waits until no stream is open at the provider. A server that keeps a provider stream after its client has left has a leak. */
export const providerIsIdle = (stand) =>
  stand.provider.process.until('is rid of all streams', async () =>
    (await stand.provider.counters()).streams === 0 ? true : undefined,
  );

/** Sends the first requests to a new process, so that its one-time work is done before the measurement. */
export const firstRequests = async (_stand, server, { warmUps }) => {
  await completeStreams(server, 'short-20', { count: warmUps, width: 16 });
  await server.process.usage('collect');
  await sleep(500);
};
