import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeyVerifier } from '../../../src/accounts/api-keys/api-key-verifier.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { testEngines, type TestDatabase } from '../../support/database.js';
import { waitFor } from '../../support/wait-for.js';
import { openAccountsApp } from './accounts-app.js';
import { admin } from './admin.js';
import { PASSWORD } from '../../support/usual-password.js';

const ada = ['--email', 'Ada@example.com'];

describe.each(await testEngines())('the admin command on $name', (engine) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await engine.create();
  });
  afterAll(() => database.drop());

  async function result(...words: string[]): Promise<unknown> {
    const { exitCode, stdout, stderr } = await admin(database, ...words);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^[^\n]+\n$/);
    return JSON.parse(stdout);
  }

  it('creates an account, sets its tier, and creates, lists and revokes a key, while a service runs', async () => {
    const app = await openAccountsApp(database.config);
    const id = expect.any(String) as string;
    const moment = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

    await expect(result('account', 'create', ...ada, '--password', PASSWORD)).resolves.toEqual({
      id,
      email: 'ada@example.com',
      tier: 'free',
    });
    await expect(result('account', 'tier', ...ada, '--tier', 'pro')).resolves.toEqual({
      id,
      email: 'ada@example.com',
      tier: 'pro',
    });
    const key = (await result('key', 'create', ...ada, '--name', 'laptop')) as { id: string; key: string };
    expect(key).toEqual({ id, name: 'laptop', key: expect.stringMatching(/^csk_/) as string });
    await expect(app.get(ApiKeyVerifier).verify(key.key)).resolves.toMatchObject({
      account: { tier: { name: 'pro' } },
    });

    const listed = { id: key.id, name: 'laptop', prefix: key.key.slice(0, 12), created_at: moment, last_used_at: null };
    await expect(result('key', 'list', ...ada)).resolves.toMatchObject([{ ...listed, revoked_at: null }]);
    const revoked = await result('key', 'revoke', '--id', key.id);
    expect(revoked).toEqual({ id: key.id, revoked_at: moment });
    await expect(result('key', 'revoke', '--id', key.id)).resolves.toEqual(revoked);
    await expect(result('key', 'list', ...ada)).resolves.toMatchObject([{ ...listed, revoked_at: moment }]);
    await app.close();
  });

  it('revokes the keys together with a new password on request', async () => {
    const hedy = ['--email', 'hedy@example.com'];
    const app = await openAccountsApp(database.config);
    const account = (await result('account', 'create', ...hedy, '--password', PASSWORD)) as { id: string };
    const { key } = await app.get(ApiKeysService).create(account.id, { name: 'laptop' });
    const next = ['--password', 'another horse battery'];
    await expect(result('account', 'password', ...hedy, ...next)).resolves.toEqual(account);
    expect(await app.get(ApiKeyVerifier).verify(key)).toBeDefined();

    const answer = await result('account', 'password', ...hedy, ...next, '--revoke-keys');

    expect(answer).toEqual({ ...account, revoked_keys: 1 });
    await waitFor(async () => (await app.get(ApiKeyVerifier).verify(key)) === undefined, 'the key to be refused');
    await app.close();
  });

  it('makes keys that expire', async () => {
    await result('account', 'create', '--email', 'bob@example.com', '--password', PASSWORD);
    await result('key', 'create', '--email', 'bob@example.com', '--name', 'short', '--expires-in-days', '30');
    const [key] = (await result('key', 'list', '--email', 'bob@example.com')) as [
      { created_at: string; expires_at: string },
    ];
    const days = (Date.parse(key.expires_at) - Date.parse(key.created_at)) / 86_400_000;
    expect(days).toBeCloseTo(30, 3);
  });
});
