import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AccountsService } from '../../src/accounts/accounts/accounts.service.js';
import { accountsSuite } from '../contract/accounts/accounts-app.js';
import { admin } from '../contract/accounts/admin.js';
import { sqlite, type TestDatabase } from '../support/database.js';
import { PASSWORD } from '../support/usual-password.js';
import { adminInTerminal, adminProcess, hasTerminals } from './support/admin.js';

// The commands are processes that have to start.
vi.setConfig({ testTimeout: 90_000 });

if (!hasTerminals) console.warn('\n!!! "script" is missing: the tests in a terminal are LEFT OUT !!!\n');

describe('the admin command', () => {
  let database: TestDatabase;
  const ada = ['--email', 'Ada@example.com'];

  beforeAll(async () => {
    database = await sqlite.create();
    await admin(database, 'account', 'create', ...ada, '--password', PASSWORD);
  });
  afterAll(() => database.drop());

  it.runIf(hasTerminals)('shows a table in a terminal, and JSON with --json', async () => {
    const [table, json] = await Promise.all([
      adminInTerminal([], database, 'account', 'list'),
      adminInTerminal([], database, 'account', 'list', '--json'),
    ]);
    expect(table.shown).toMatch(/^id +email +tier +role +state +created_at\r\n[-\w]+ +ada@example\.com +free +/);
    expect(JSON.parse(json.shown)).toMatchObject([{ email: 'ada@example.com' }]);
  });

  it('is a program of its own', async () => {
    const list = ['key', 'list', ...ada];
    expect(await adminProcess('', database, ...list)).toEqual({ exitCode: 0, stdout: '[]\n', stderr: '' });
    const refused = await adminProcess('', database, ...list, '--all');
    expect(refused).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('--all') as string });
  });
});

describe('a password for the admin command', () => {
  const suite = accountsSuite(sqlite);
  let accounts = 0;

  const newEmail = () => `ada-${++accounts}@example.com`;
  const verify = async (email: string, password: string) =>
    (await suite.get(AccountsService).verifyPassword(email, password)) !== undefined;

  it('is in no list of processes', async () => {
    const secret = 'a very secret horse';
    const seen: string[] = [];
    const timer = setInterval(() => seen.push(commandLines()), 20);
    const words = ['account', 'create', '--email', newEmail(), '--password-stdin'];
    const { exitCode } = await adminProcess(secret, suite.database, ...words);
    clearInterval(timer);
    expect(exitCode).toBe(0);
    expect(seen.join('\n')).toContain('--password-stdin');
    expect(seen.join('\n')).not.toContain(secret);
  });

  describe.skipIf(!hasTerminals)('in a terminal', () => {
    it('is prompted for twice, and not shown', async () => {
      const email = newEmail();
      const answers = [`${PASSWORD}\r`, `${PASSWORD}\r`];
      const { exitCode, shown } = await adminInTerminal(answers, suite.database, 'account', 'create', '--email', email);
      expect(exitCode).toBe(0);
      expect(shown).toMatch(/^New password: \r\nNew password again: \r\nid +email +tier\r\n[^\n]+ free\r\n$/);
      expect(await verify(email, PASSWORD)).toBe(true);
    });

    it('can be corrected while it is typed, and pasted in two lines', async () => {
      const email = newEmail();
      const answers = [`${PASSWORD}x\x7f\r${PASSWORD}\r`];
      const { exitCode } = await adminInTerminal(answers, suite.database, 'account', 'create', '--email', email);
      expect(exitCode).toBe(0);
      expect(await verify(email, PASSWORD)).toBe(true);
    });

    it.each([
      ['the second is another', [`${PASSWORD}\r`, 'another horse battery\r'], 'The two passwords differ.'],
      ['it is empty', ['\r'], 'No password was entered.'],
      ['the operator presses Ctrl-C', ['\x03'], 'No password was entered.'],
      ['the operator presses Ctrl-D', [`${PASSWORD}\r`, '\x04'], 'No password was entered.'],
    ])('is refused when %s', async (_, answers, message) => {
      const email = newEmail();
      const { exitCode, shown } = await adminInTerminal(answers, suite.database, 'account', 'create', '--email', email);
      expect(exitCode).toBe(1);
      expect(shown).toContain(message);
      expect(shown).not.toContain('horse');
      expect(await suite.get(AccountsService).findByEmail(email)).toBeUndefined();
    });

    it('is not read from the keyboard with --password-stdin, which would show it', async () => {
      const words = ['account', 'create', '--email', newEmail(), '--password-stdin'];
      const { exitCode, shown } = await adminInTerminal([], suite.database, ...words);
      expect([exitCode, shown]).toEqual([1, expect.stringContaining('needs a pipe or a file')]);
    });
  });
});

/** The command lines of all processes of the machine, as anybody on it can read them. */
function commandLines(): string {
  const lines = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        // The process has ended meanwhile.
        return '';
      }
    });
  return lines.filter((line) => line.includes('admin.js')).join('\n');
}
