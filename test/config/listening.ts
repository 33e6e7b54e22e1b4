import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'vitest';
import { closedPort } from '../support/silent-server.js';
import { get } from '../support/sse-client.js';
import { startService } from '../support/service.js';
import { serving, type Effects } from './effect.js';

const HEALTH = '/api/v1/health';
const PORT_PROBLEM = 'must be between 0 and 65535';

const answers = (origin: string): Promise<boolean> =>
  get(origin, HEALTH).then(
    ({ status }) => status === 200,
    () => false,
  );
const at = (host: string, origin: string): string => `http://${host}:${new URL(origin).port}`;

/** Where the service listens. */
export const listening: Effects = {
  HOST: {
    set: () =>
      serving({ env: { HOST: '127.0.0.2' } }, async ({ origin }) => {
        expect(await answers(at('127.0.0.2', origin))).toBe(true);
        expect(await answers(at('127.0.0.1', origin))).toBe(false);
      }),
    unset: () =>
      serving({}, async ({ origin }) => {
        expect(await answers(at('127.0.0.1', origin))).toBe(true);
        expect(await answers(at('127.0.0.2', origin))).toBe(false);
      }),
    refused: [],
  },
  PORT: {
    async set() {
      const port = await closedPort();
      await serving({ env: { PORT: String(port) } }, async () => {
        expect(await answers(`http://127.0.0.1:${port}`)).toBe(true);
      });
    },
    // The port may be in use on this machine, so the test sees to it that it is.
    async unset() {
      const other = createServer();
      other.listen(3000, '127.0.0.1');
      await Promise.race([once(other, 'listening'), once(other, 'error')]).catch(() => undefined);
      await expect(startService({ env: { NODE_ENV: 'production', PORT: '' } })).rejects.toMatchObject({
        code: 'EADDRINUSE',
        address: '127.0.0.1',
        port: 3000,
      });
      other.close();
    },
    refused: [
      ['x', `PORT: must be a whole number`],
      ['-1', 'PORT: must be a whole number'],
      ['65536', `PORT: ${PORT_PROBLEM}`],
    ],
  },
};
