import { readFileSync } from 'node:fs';
import { runningProcesses } from './processes.mjs';

const TICKS_PER_SECOND = 100;

/**
 * Starts to watch how busy the machine is with what is not of this bench: the lateness of chunks means little beside it,
 * and CPU times rise with shared caches.
 *
 * @returns {Promise<() => Promise<number>>} gives the cores that others kept busy since, on average
 */
export async function watchForeignLoad() {
  const startedAt = performance.now();
  const before = await foreignSeconds();
  return async () => Math.max(0, (await foreignSeconds()) - before) / ((performance.now() - startedAt) / 1000);
}

async function foreignSeconds() {
  const own = await Promise.all(runningProcesses().map(async (one) => (await one.usage()).cpuMicros / 1e6));
  // All of the machine: user, nice, system. Of this process: its own, and that of children that have ended.
  const all = readFileSync('/proc/stat', 'utf8').split('\n')[0].split(/\s+/).slice(1, 4);
  const self = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ').slice(11, 15);
  const seconds = (ticks) => ticks.reduce((sum, value) => sum + Number(value), 0) / TICKS_PER_SECOND;
  return seconds(all) - seconds(self) - own.reduce((sum, value) => sum + value, 0);
}
