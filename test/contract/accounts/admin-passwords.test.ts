import { describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { sqlite } from '../../support/database.js';
import { accountsSuite } from './accounts-app.js';
import { admin, adminWith } from './admin.js';
import { PASSWORD } from '../../support/usual-password.js';

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
});
