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

  it('does not name other machines at an address that they do not reach', async () => {
    service.signal('SIGTERM');
    expect((await service.exited).stdout).not.toContain('other machines');
  });
});

describe('a first start in production, at an address that other machines reach', () => {
  it('shows how to create an account and how to sign in, and creates no account', async () => {
    const installation = await Installation.create(configFile(routesTo(['http://127.0.0.1:9'])));
    try {
      const service = installation.start({ HOST: '0.0.0.0' });
      await service.origin();
      for (const told of ['account create --email', 'This address is open to other machines']) {
        await waitFor(() => service.stdout.includes(told), told);
      }
      expect(service.stdout).toContain('Listening on http://0.0.0.0:');
      expect(service.stdout).not.toContain('csk_');
      for (const line of service.stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
    } finally {
      await installation.remove();
    }
  });
});

describe('a first start without any model', () => {
  it('warns with the variables to set, and shows no command that cannot work', async () => {
    const { upstreams, models } = routesTo(['http://127.0.0.1:9']);
    const acme = { ...upstreams['acme'], api_key: '${ACME_KEY}' };
    const installation = await Installation.create(configFile({ upstreams: { acme }, models }));
    try {
      const service = installation.start({ NODE_ENV: 'development' });
      await service.origin();
      await waitFor(() => service.stdout.includes('No model is available yet'), 'the message of the first start');
      expect(service.stdout).toContain('CONFIG_FILE needs at least one of these variables: ACME_KEY');
      expect(service.stdout).not.toContain('curl');
    } finally {
      await installation.remove();
    }
  });
});

describe('a start with an unset variable', () => {
  it('names the variable, and the models that are not listed', async () => {
    const { upstreams, models } = routesTo(['http://127.0.0.1:9', 'http://127.0.0.1:9']);
    const other = { ...models[0], id: 'acme/other', routes: [{ upstream: 'backup', model: 'm' }] };
    const backup = { ...upstreams['backup'], api_key: '${BACKUP_KEY}' };
    const installation = await Installation.create(
      configFile({ upstreams: { ...upstreams, backup }, models: [...models, other] }),
    );
    try {
      const service = installation.start();
      await service.origin();
      await waitFor(
        () => service.stdout.includes('CONFIG_FILE that are not listed: acme/other. Unset variables: BACKUP_KEY'),
        'the models that are not listed',
      );
    } finally {
      await installation.remove();
    }
  });
});
