// Reports over IPC the CPU time and memory that a process has used so far. Every process of a bench preloads this file with
// --import. Both servers load it, so its small cost is the same for both. getrusage counts in microseconds, but
// /proc/<pid>/stat counts in steps of 10 ms.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const MICROS_PER_TICK = 10_000;

/**
 * `cpuMicros` includes the threads of the process and its children that have ended.
 *
 * @typedef {{ cpuMicros: number, rssKb: number, peakRssKb: number, descriptors: number, heapKb: number }} Usage
 */

if (isMainThread && process.channel) {
  process.on('message', async (message) => {
    if (message?.probe === undefined) return;
    if (message.probe === 'collect') collectGarbage();
    // Resets VmHWM, the peak, to the current resident memory.
    if (message.probe === 'reset-peak') writeFileSync('/proc/self/clear_refs', '5');
    if (message.probe === 'start-sampling') await (await sampling()).startSampling();
    const allocations = message.probe === 'stop-sampling' ? await (await sampling()).stopSampling() : undefined;
    process.send({ probe: message.id, usage: usage(), allocations });
  });
  // When the bench has exited, no other process would stop this process.
  process.on('disconnect', () => process.exit());
  process.channel.unref();
}

/** Loaded when needed, because every process of a bench loads this file. */
const sampling = () => import('./allocation-sampling.mjs');

/** @returns {Usage} */
function usage() {
  const { user, system } = process.cpuUsage();
  // The fields `cutime` and `cstime`, after the name of the process in parentheses.
  const children = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ').slice(13, 15);
  const status = readFileSync('/proc/self/status', 'utf8');
  const kilobytes = (field) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return {
    cpuMicros: children.reduce((sum, ticks) => sum + Number(ticks) * MICROS_PER_TICK, user + system),
    rssKb: kilobytes('VmRSS'),
    peakRssKb: kilobytes('VmHWM'),
    heapKb: Math.round(process.memoryUsage().heapUsed / 1024),
    descriptors: readdirSync('/proc/self/fd').length,
  };
}

function collectGarbage() {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc');
  gc();
  gc();
}
