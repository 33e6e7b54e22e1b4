import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts.service.js';
import { ApiKeyVerifier } from '../../../src/accounts/api-key-verifier.js';
import { SessionWatch } from '../../../src/accounts/session-watch.js';
import { SessionsService } from '../../../src/accounts/sessions.service.js';
import { testEngines, type TestDatabase, type TestEngine } from '../../support/database.js';
import { waitFor } from '../../support/wait-for.js';
import { openAccountsApp, PASSWORD } from './accounts-app.js';

const ADMIN = fileURLToPath(new URL('../../../dist/admin.js', import.meta.url));
if (!existsSync(ADMIN)) throw new Error('dist/admin.js is missing: run "npm run build".');

interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

// Each command is a process that has to start.
vi.setConfig({ testTimeout: 90_000 });

const engines = await testEngines();
const ada = ['--email', 'Ada@example.com'];

function admin(database: TestDatabase, ...words: string[]): Promise<Outcome> {
  const { config } = database;
  const url = config.type === 'sqlite' ? `sqlite:${config.path}` : config.url;
  return new Promise((resolve) => {
    execFile(process.execPath, [ADMIN, ...words], { env: { DATABASE_URL: url } }, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

describe.each(engines)('the admin command on $name', (engine) => {
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

  it('makes an account, gives it a tier, and makes, lists and revokes a key, beside a running service', async () => {
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

  it('sets a password, which ends the sessions of the account in a running service', async () => {
    const grace = ['--email', 'grace@example.com'];
    const app = await openAccountsApp(database.config);
    const { id } = (await result('account', 'create', ...grace, '--password', PASSWORD)) as { id: string };
    const { token, sessionId } = await app.get(SessionsService).create(id);
    expect(await app.get(SessionsService).verify(token)).toBeDefined();
    const onEnded = vi.fn();
    app.get(SessionWatch).watch(sessionId, onEnded);

    await expect(result('account', 'password', ...grace, '--password', 'another horse battery')).resolves.toEqual({
      id,
      email: 'grace@example.com',
      tier: 'free',
    });

    await waitFor(async () => (await app.get(SessionsService).verify(token)) === undefined, 'the session to end');
    await waitFor(() => onEnded.mock.calls.length === 1, 'what is open under it to end');
    expect(await app.get(AccountsService).verifyPassword('grace@example.com', PASSWORD)).toBeUndefined();
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

describe('the admin command', () => {
  let database: TestDatabase;
  const someone = ['--email', 'someone@example.com'];

  beforeAll(async () => {
    const [sqlite] = engines as [TestEngine];
    database = await sqlite.create();
    await admin(database, 'account', 'create', ...ada, '--password', PASSWORD);
  });
  afterAll(() => database.drop());

  it.each([
    ['no command', [], 'Usage'],
    ['an unknown command', ['account', 'delete'], 'There is no command "account delete"'],
    ['a missing option', ['account', 'create', ...someone], '--password'],
    ['an unknown option', ['key', 'list', ...someone, '--all'], '--all'],
    ['an unknown tier', ['account', 'create', ...someone, '--password', PASSWORD, '--tier', 'gold'], '"gold"'],
    ['a short password', ['account', 'create', ...someone, '--password', 'short'], 'password'],
    ['a common new password', ['account', 'password', ...ada, '--password', 'iloveyou'], 'everybody tries'],
    ['a password for nobody', ['account', 'password', ...someone, '--password', PASSWORD], 'someone@example.com'],
    ['an unfit email', ['account', 'create', '--email', 'someone', '--password', PASSWORD], 'email'],
    ['a taken email', ['account', 'create', ...ada, '--password', PASSWORD], 'exists already'],
    ['an unknown account', ['key', 'create', ...someone, '--name', 'x'], 'someone@example.com'],
    ['an unknown key', ['key', 'revoke', '--id', 'nothing'], 'There is no such key'],
    ['a wrong number of days', ['key', 'create', ...ada, '--name', 'x', '--expires-in-days', '1.5'], 'whole number'],
  ])('refuses %s with a message and exit code 1', async (_, words, message) => {
    const { exitCode, stdout, stderr } = await admin(database, ...words);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('tells of a database that it cannot open in one line', async () => {
    const config = { type: 'sqlite', path: '/dev/null/chat.sqlite' } as const;
    const { exitCode, stderr } = await admin({ ...database, config }, 'key', 'list', ...ada);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^The database file \/dev\/null\/chat.sqlite cannot be opened: [^\n]+\.\n$/);
  });

  it('explains itself', async () => {
    const { exitCode, stdout } = await admin(database, '--help');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('key revoke --id ID');
  });
});
