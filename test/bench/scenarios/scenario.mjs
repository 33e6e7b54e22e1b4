// What a scenario is, and what several of them share.
import { assertComplete, load, readStream } from '../client.mjs';
import { sleep } from '../processes.mjs';

/** @typedef {import('../servers.mjs').Server} Server */
/** @typedef {import('../servers.mjs').Stand} Stand */

/**
 * @typedef {object} Row one number of the report
 * @property {string} id the member of a measurement
 * @property {string} label
 * @property {number} [target] the highest ratio of gateway to relay that is fine
 */

/**
 * @typedef {object} Scenario
 * @property {string} name
 * @property {boolean} fresh whether each measurement needs processes of its own, since memory once taken is not given back
 * @property {readonly Row[]} rows
 * @property {readonly string[]} scripts
 * @property {object} size
 * @property {object} smokeSize
 * @property {(stand: Stand, server: Server, size: any) => Promise<void>} warmUp
 * @property {(stand: Stand, server: Server, size: any) => Promise<Record<string, number>>} measure
 */

// Whatever a server still has to do for the load just ended (records, timers) counts.
const AFTERMATH_MS = 250;

/** What the server's process used of the processor for an action. */
export async function cpuMicrosOf(server, action) {
  const before = await server.process.usage();
  await action();
  await sleep(AFTERMATH_MS);
  const after = await server.process.usage();
  return after.cpuMicros - before.cpuMicros;
}

/** Streams that run to their end, all of them checked. */
export async function completeStreams(server, script, size) {
  const results = await load(server, size, (connection) => readStream(connection, server, script));
  assertComplete(results);
  return results;
}

/** What a client that left held must go: a server that keeps the vendor's connection leaks. */
export const vendorIsIdle = (stand) =>
  stand.vendor.process.until('is rid of all streams', async () =>
    (await stand.vendor.counters()).streams === 0 ? true : undefined,
  );

/** Requests that make a new process do once all that it does only once. */
export const firstRequests = async (_stand, server, { warmUps }) => {
  await completeStreams(server, 'short-20', { count: warmUps, width: 16 });
  await server.process.usage('collect');
  await sleep(500);
};
