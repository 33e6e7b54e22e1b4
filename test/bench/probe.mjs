// Preloaded (--import) into every process of a bench: answers over IPC what the process has used so far. Both servers
// carry it, so what little it costs is the same for both. getrusage counts in microseconds; /proc/<pid>/stat in 10 ms.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** @typedef {{ cpuMicros: number, rssKb: number, peakRssKb: number, descriptors: number, heapKb: number }} Usage */

if (isMainThread && process.channel) {
  process.on('message', (message) => {
    if (message?.probe === undefined) return;
    if (message.probe === 'collect') collectGarbage();
    // Sets VmHWM back to what is resident now.
    if (message.probe === 'reset-peak') writeFileSync('/proc/self/clear_refs', '5');
    process.send({ probe: message.id, usage: usage() });
  });
  // Nobody is left to stop this process when the bench is gone.
  process.on('disconnect', () => process.exit());
  process.channel.unref();
}

/** @returns {Usage} */
function usage() {
  const { user, system } = process.cpuUsage();
  const status = readFileSync('/proc/self/status', 'utf8');
  const kilobytes = (field) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return {
    cpuMicros: user + system,
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
