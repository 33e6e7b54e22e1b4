import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { usageText } from '../../../src/plugins/admin/commands/command.js';
import { sqlite, type TestDatabase } from '../../support/database.js';
import { PASSWORD } from '../../support/usual-password.js';
import { admin } from './admin.js';

const ada = ['--email', 'Ada@example.com'];

describe('the admin command', () => {
  let database: TestDatabase;
  const someone = ['--email', 'someone@example.com'];

  beforeAll(async () => {
    database = await sqlite.create();
    await admin(database, 'account', 'create', ...ada, '--password', PASSWORD);
  });
  afterAll(() => database.drop());

  it.each([
    ['no command', [], 'Usage'],
    ['an unknown command', ['account', 'rename'], 'There is no command "account rename"'],
    ['a missing option', ['account', 'create', ...someone], '--password'],
    ['a missing email', ['account', 'create', '--password', PASSWORD], '--email'],
    ['two passwords', ['account', 'create', ...someone, '--password', 'x', '--password-stdin'], 'either'],
    ['a flag of another command', ['account', 'create', ...someone, '--revoke-keys'], '--revoke-keys'],
    ['an unknown option', ['key', 'list', ...someone, '--all'], '--all'],
    ['an unknown tier', ['account', 'create', ...someone, '--password', PASSWORD, '--tier', 'gold'], '"gold"'],
    ['a short password', ['account', 'create', ...someone, '--password', 'short'], 'password'],
    ['a common new password', ['account', 'password', ...ada, '--password', 'iloveyou'], 'too common'],
    ['a password for nobody', ['account', 'password', ...someone, '--password', PASSWORD], 'someone@example.com'],
    ['an unfit email', ['account', 'create', '--email', 'someone', '--password', PASSWORD], 'email'],
    ['a taken email', ['account', 'create', ...ada, '--password', PASSWORD], 'already exists'],
    ['an unknown account', ['key', 'create', ...someone, '--name', 'x'], 'someone@example.com'],
    ['an account that is unknown', ['account', 'disable', ...someone], 'There is no account "someone@example.com".'],
    ['a role for nobody', ['account', 'role', ...someone, '--role', 'operator'], 'There is no account'],
    ['an unknown role', ['account', 'role', ...ada, '--role', 'admin'], 'The roles are: member, operator.'],
    ['a missing role', ['account', 'role', ...ada], 'Missing: --role.'],
    ['an unknown key', ['key', 'revoke', '--id', 'nothing'], 'key does not exist'],
    ['a wrong number of days', ['key', 'create', ...ada, '--name', 'x', '--expires-in-days', '1.5'], 'whole number'],
  ])('refuses %s with a message and exit code 1', async (_, words, message) => {
    const { exitCode, stdout, stderr } = await admin(database, ...words);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it.each([
    ['/srv/chat/dist/admin.js', 'npm run --silent admin --'],
    ['/srv/app/node_modules/.bin/chat-streaming-service-admin', 'chat-streaming-service-admin'],
  ])('names itself as %s was called', (script, name) => {
    expect(usageText([], script)).toMatch(new RegExp(`^Usage: ${name} <command>\n`));
  });

  it('reports a database that it cannot open in one line', async () => {
    const config = { type: 'sqlite', path: '/dev/null/chat.sqlite' } as const;
    const { exitCode, stderr } = await admin({ ...database, config }, 'key', 'list', ...ada);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^The database file \/dev\/null\/chat.sqlite cannot be opened: [^\n]+\.\n$/);
  });

  it('refuses a database file that is missing, and creates none', async () => {
    const config = { type: 'sqlite', path: join(tmpdir(), `none-${randomUUID()}.sqlite`) } as const;
    for (const words of [['account', 'list'], ['key', 'list', ...ada], ['usage']]) {
      const { exitCode, stdout, stderr } = await admin({ ...database, config }, ...words);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr).toMatch(/^There is no database file [^\n]+\n$/);
    }
    expect(existsSync(config.path)).toBe(false);
  });

  it('explains one command', async () => {
    const { exitCode, stdout } = await admin(database, 'key', 'list', '--help');
    expect(exitCode).toBe(0);
    expect(stdout).toBe('Usage: key list --email E [--json]\n');
  });

  it('explains itself', async () => {
    const { exitCode, stdout } = await admin(database, '--help');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('key revoke --id ID');
  });
});
