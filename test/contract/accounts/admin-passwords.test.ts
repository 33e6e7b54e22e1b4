import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { testEngines, type TestEngine } from '../../support/database.js';
import { accountsSuite } from './accounts-app.js';
import { admin, adminInTerminal, adminProcess, adminWith, hasTerminals } from './admin-process.js';
import { PASSWORD } from '../../support/usual-password.js';

// Some of the commands are processes that have to start.
vi.setConfig({ testTimeout: 90_000 });

const [sqlite] = (await testEngines()) as [TestEngine];
if (!hasTerminals) console.warn('\n!!! "script" is missing: the tests in a terminal are LEFT OUT !!!\n');

describe('a password for the admin command', () => {
  const suite = accountsSuite(sqlite);
  let accounts = 0;

  const newEmail = () => `ada-${++accounts}@example.com`;
  const verify = async (email: string, password: string) =>
    (await suite.get(AccountsService).verifyPassword(email, password)) !== undefined;

  describe('on the standard input', () => {
    it.each([
      ['without a line break', PASSWORD],
      ['with a line break', `${PASSWORD}\n`],
      ['with a line break of Windows', `${PASSWORD}\r\n`],
    ])('is read %s', async (_, input) => {
      const email = newEmail();
      const outcome = await adminWith(input, suite.database, 'account', 'create', '--email', email, '--password-stdin');
      expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
      expect(await verify(email, PASSWORD)).toBe(true);
    });

    it('keeps spaces and quotes, and letters of any script', async () => {
      const [email, password] = [newEmail(), ' "pässwörd" 密碼 \' $HOME '];
      await adminWith(`${password}\n`, suite.database, 'account', 'create', '--email', email, '--password-stdin');
      expect(await verify(email, password)).toBe(true);
    });

    it('replaces that of an account', async () => {
      const email = newEmail();
      await adminWith(PASSWORD, suite.database, 'account', 'create', '--email', email, '--password-stdin');
      const next = 'another horse battery';
      await adminWith(
        next,
        suite.database,
        'account',
        'password',
        '--email',
        email,
        '--password-stdin',
        '--revoke-keys',
      );
      expect([await verify(email, PASSWORD), await verify(email, next)]).toEqual([false, true]);
    });

    it.each([
      ['empty', '', 'contains no password'],
      ['an empty line', '\n', 'contains no password'],
      ['two lines', 'first horse battery\nsecond horse battery\n', 'in one line'],
      ['no UTF-8', Buffer.from([0xff, 0xfe, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47]), 'UTF-8'],
      ['endless', 'x'.repeat(1_000_000), 'too long'],
      ['too short', 'short\n', '8 to 1024 characters'],
    ])('is refused when it is %s', async (_, input, message) => {
      const email = newEmail();
      const outcome = await adminWith(input, suite.database, 'account', 'create', '--email', email, '--password-stdin');
      expect(outcome).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(message) as string });
      expect(outcome.stderr).not.toContain('battery');
      expect(await suite.get(AccountsService).findByEmail(email)).toBeUndefined();
    });
  });

  it('is not waited for without a terminal and without an option', async () => {
    const outcome = await admin(suite.database, 'account', 'create', '--email', newEmail());
    expect(outcome).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^The password is missing\. Add --password-stdin .*--password P.*\n$/) as string,
    });
  });

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
