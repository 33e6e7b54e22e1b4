import { completeStreams, cpuMicrosOf } from './scenario.mjs';

/** @type {import('./scenario.mjs').Scenario} */
export const full = {
  name: 'full',
  fresh: false,
  rows: [
    { id: 'cpu', label: 'full speed: CPU µs per provider chunk', target: 0.6, documented: 0.82 },
    { id: 'rate', label: 'full speed: provider chunks per s' },
    { id: 'joined', label: 'full speed: provider chunks per chunk sent' },
  ],
  scripts: ['full-20000', 'packed-20000'],
  size: { script: 'full-20000', events: 20_000, count: 24, width: 4 },
  smokeSize: { script: 'full-20000', events: 20_000, count: 24, width: 4 },
  warmUp: async (_stand, server, size) => {
    await completeStreams(server, size.script, { ...size, count: Math.ceil(size.count / 2) });
  },
  measure: async (_stand, server, { script, events, ...size }) => {
    let results = [];
    let elapsedMs = 0;
    const cpu = await cpuMicrosOf(server, async () => {
      const startedAt = performance.now();
      results = await completeStreams(server, script, size);
      elapsedMs = performance.now() - startedAt;
    });
    const sent = results.reduce((sum, { chunks }) => sum + chunks, 0);
    const received = size.count * events;
    return { cpu: cpu / received, rate: (received / elapsedMs) * 1000, joined: received / sent };
  },
};

/** The same when the provider sends many events in each HTTP chunk. @type {import('./scenario.mjs').Scenario} */
export const packed = {
  ...full,
  name: 'packed',
  rows: [{ id: 'cpu', label: 'full speed, 75 events in an HTTP chunk: CPU µs per event', target: 0.5 }],
  size: { ...full.size, script: 'packed-20000' },
  smokeSize: { ...full.smokeSize, script: 'packed-20000' },
};
