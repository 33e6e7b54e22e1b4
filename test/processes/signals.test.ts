import { afterAll, beforeAll, expect, it } from 'vitest';
import { configFile, routesTo } from '../support/catalog.js';
import { Installation } from '../support/process.js';
import { get } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';

let installation: Installation;

beforeAll(async () => {
  installation = await Installation.create(configFile(routesTo(['http://127.0.0.1:9'])));
});
afterAll(() => installation.remove());

it('SIGHUP during the start does not end the process', async () => {
  const service = installation.start();
  await waitFor(() => service.stdout.includes('"context":"Database"'), 'the tables');
  service.signal('SIGHUP');
  expect((await get(await service.origin(), '/api/v1/health')).status).toBe(200);
});

it('SIGUSR2 does not end the process, and is reported in the log', async () => {
  const service = installation.start();
  const origin = await service.origin();
  service.signal('SIGUSR2');
  await waitFor(() => service.stdout.includes('SIGUSR2: no effect'), 'the signal in the log');
  expect((await get(origin, '/api/v1/health')).status).toBe(200);
});
