import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserClient } from '../support/browser-client.js';
import { configFile, MODEL, routesTo } from '../support/catalog.js';
import { Installation, type SpawnedProcess } from '../support/process.js';
import { waitFor } from '../support/wait-for.js';

describe('a first start in development', () => {
  let installation: Installation;
  let service: SpawnedProcess;
  let origin: string;

  beforeAll(async () => {
    installation = await Installation.create(configFile(routesTo(['http://127.0.0.1:9'])));
    service = installation.start({ NODE_ENV: 'development' });
    origin = await service.origin();
    await waitFor(() => service.stdout.includes('curl'), 'the message of the first start');
  }, 60_000);
  afterAll(() => installation.remove());

  const shown = (what: RegExp) => what.exec(service.stdout)?.[1] ?? '';

  it('says where to sign in, and with what', async () => {
    expect(shown(/Sign in +(\S+)/)).toBe(`${origin.replace('127.0.0.1', 'localhost')}/sign-in`);
    const client = browserClient(origin);
    const answer = await client.signIn(shown(/Email +(\S+)/), shown(/Password +(\S+)/));
    expect(answer.status).toBe(303);
    expect(await (await client.get('/settings/api-keys')).body()).toContain('first start');
  });

  it('shows a command to paste', () => {
    const key = shown(/API key +(\S+)/);
    expect(key).toMatch(/^csk_/);
    expect(service.stdout).toContain(`curl -N ${origin}/api/v1/chat/stream \\\n`);
    expect(service.stdout).toContain(`-H 'Authorization: Bearer ${key}' \\\n`);
    expect(JSON.parse(shown(/-d '(.*)'/))).toMatchObject({ model: MODEL });
  });
});
