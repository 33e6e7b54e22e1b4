import { getRequest, load } from '../client.mjs';
import { cpuMicrosOf } from './scenario.mjs';

/**
 * A scenario that requests a small answer, the same for everyone, again and again.
 *
 * @param {string} name
 * @param {string} path
 * @param {string} beginning the beginning of the body
 * @param {number} target the highest acceptable ratio of the CPU time
 * @param {number} documented the ratio in docs/performance.md
 * @returns {import('./scenario.mjs').Scenario}
 */
function getScenario(name, path, beginning, target, documented) {
  const requests = async (server, size) => {
    const request = getRequest(server, path);
    await load(server, size, async (connection) => {
      let status = 0;
      let body = '';
      await connection.exchange(request, { onHead: (value) => (status = value), onBody: (bytes) => (body += bytes) });
      if (status !== 200 || !body.startsWith(beginning)) throw new Error(`GET ${path}: ${status} ${body}`);
    });
  };
  return {
    name,
    fresh: false,
    rows: [
      { id: 'cpu', label: `GET ${path}: CPU µs per request`, target, documented },
      { id: 'rate', label: `GET ${path}: requests per s` },
    ],
    scripts: [],
    size: { count: 40_000, width: 16 },
    smokeSize: { count: 20_000, width: 4 },
    warmUp: async (_stand, server, size) => {
      await requests(server, { ...size, count: Math.ceil(size.count / 4) });
    },
    measure: async (_stand, server, size) => {
      let elapsedMs = 0;
      const cpu = await cpuMicrosOf(server, async () => {
        const startedAt = performance.now();
        await requests(server, size);
        elapsedMs = performance.now() - startedAt;
      });
      return { cpu: cpu / size.count, rate: (size.count / elapsedMs) * 1000 };
    },
  };
}

export const health = getScenario('health', '/api/v1/health', '{"status":"healthy"', 2, 1.55);
export const models = getScenario('models', '/api/v1/chat/models', '{"models":[{"id":"bench/', 2.5, 2.8);
