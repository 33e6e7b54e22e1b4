// Samples the bytes that this process allocates on the JavaScript heap, by function. Objects count whether or not they are
// still alive. The bytes of a function of V8, such as `Array.prototype.map`, count for the function that calls it.
import { Session } from 'node:inspector/promises';

/** The mean distance between two samples. */
const SAMPLING_INTERVAL_BYTES = 4096;

/** @typedef {{ name: string, url: string, line: number, bytes: number }} AllocatingFunction */

const session = new Session();

export async function startSampling() {
  session.connect();
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: SAMPLING_INTERVAL_BYTES,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
}

/** @returns {Promise<AllocatingFunction[]>} the functions that allocated anything, the largest first */
export async function stopSampling() {
  const { profile } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  /** @type {Map<string, AllocatingFunction>} */
  const functions = new Map();
  const add = ({ callFrame, selfSize, children }, caller) => {
    const isOfV8 = callFrame.url === '' && caller !== undefined;
    const allocating = isOfV8 ? caller : functionOf(functions, callFrame);
    allocating.bytes += selfSize;
    for (const child of children) add(child, allocating.url === '' ? undefined : allocating);
  };
  add(profile.head);
  return [...functions.values()].filter(({ bytes }) => bytes > 0).sort((one, other) => other.bytes - one.bytes);
}

function functionOf(functions, { functionName, url, lineNumber }) {
  const id = `${url}:${lineNumber}:${functionName}`;
  if (!functions.has(id)) functions.set(id, { name: functionName, url, line: lineNumber + 1, bytes: 0 });
  return functions.get(id);
}
