import { getRequest, load } from '../client.mjs';
import { cpuMicrosOf } from './scenario.mjs';

/** @type {import('./scenario.mjs').Scenario} */
export const models = {
  name: 'models',
  fresh: false,
  rows: [
    { id: 'cpu', label: 'GET /chat/models: CPU µs per request', target: 4 },
    { id: 'rate', label: 'GET /chat/models: requests per s' },
  ],
  scripts: [],
  size: { count: 40_000, width: 16 },
  smokeSize: { count: 100, width: 4 },
  warmUp: async (_stand, server, size) => {
    await listings(server, { ...size, count: Math.ceil(size.count / 4) });
  },
  measure: async (_stand, server, size) => {
    let elapsedMs = 0;
    const cpu = await cpuMicrosOf(server, async () => {
      const startedAt = performance.now();
      await listings(server, size);
      elapsedMs = performance.now() - startedAt;
    });
    return { cpu: cpu / size.count, rate: (size.count / elapsedMs) * 1000 };
  },
};

async function listings(server, size) {
  const request = getRequest(server, '/api/v1/chat/models');
  await load(server, size, async (connection) => {
    let status = 0;
    let body = '';
    await connection.exchange(request, { onHead: (value) => (status = value), onBody: (bytes) => (body += bytes) });
    if (status !== 200 || !body.startsWith('{"models":[{"id":"bench/'))
      throw new Error(`GET /chat/models: ${status} ${body}`);
  });
}
