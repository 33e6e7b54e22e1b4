import { readFileSync } from 'node:fs';
import { runningProcesses } from './processes.mjs';

const TICKS_PER_SECOND = 100;

/**
 * Starts to measure the CPU use of processes outside this bench. With much other load, the lateness of chunks means little,
 * and CPU times rise because of shared caches.
 *
 * @returns {Promise<() => Promise<number>>} a function that returns how many cores other processes have kept busy on average
 */
export async function watchForeignLoad() {
  const startedAt = performance.now();
  const before = await foreignSeconds();
  return async () => Math.max(0, (await foreignSeconds()) - before) / ((performance.now() - startedAt) / 1000);
}

async function foreignSeconds() {
  const own = await Promise.all(runningProcesses().map(async (one) => (await one.usage()).cpuMicros / 1e6));
  // For the machine: user, nice and system time. For this process: its own time, and the time of children that have ended.
  const all = readFileSync('/proc/stat', 'utf8').split('\n')[0].split(/\s+/).slice(1, 4);
  const self = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ').slice(11, 15);
  const seconds = (ticks) => ticks.reduce((sum, value) => sum + Number(value), 0) / TICKS_PER_SECOND;
  return seconds(all) - seconds(self) - own.reduce((sum, value) => sum + value, 0);
}
