import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { AccountRoles } from '../../../src/accounts/accounts/account-roles.js';
import { AccountStates } from '../../../src/accounts/accounts/account-states.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { testEngines } from '../../support/database.js';
import { accountsSuite } from './accounts-app.js';
import { admin } from './admin.js';
import { PASSWORD } from '../../support/usual-password.js';

describe.each(await testEngines())('the role of an account on $name', (engine) => {
  const suite = accountsSuite(engine);

  const created = (email: string) => suite.get(AccountsService).create({ email, password: PASSWORD });

  it('is member at first, and is changed by the admin command', async () => {
    const email = 'ada@example.com';
    const { id, role } = await created(email);
    expect(role).toBe('member');
    for (const next of ['operator', 'operator', 'member']) {
      const { exitCode, stdout } = await admin(suite.database, 'account', 'role', '--email', email, '--role', next);
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${JSON.stringify({ id, email, role: next })}\n` });
      const list = await admin(suite.database, 'account', 'list');
      expect(JSON.parse(list.stdout)).toEqual([expect.objectContaining({ id, role: next })]);
    }
  });

  it.each([
    [['--email', 'nobody@example.com', '--role', 'operator'], 'There is no account "nobody@example.com".'],
    [['--email', 'ada@example.com', '--role', 'admin'], 'There is no role "admin". The roles are: member, operator.'],
    [['--email', 'ada@example.com', '--role', ''], 'There is no role "".'],
    [['--email', 'ada@example.com'], 'Missing: --role.'],
  ])('is refused for %j', async (options, message) => {
    const { exitCode, stdout, stderr } = await admin(suite.database, 'account', 'role', ...options);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('counts only for a session that has not ended, of an account that is not disabled', async () => {
    const { id, email } = await created('grace@example.com');
    const roles = suite.get(AccountRoles);
    const { sessionId, token } = await suite.get(SessionsService).create(id);
    expect(await roles.isOperator(sessionId)).toBe(false);
    await roles.set(email, 'operator');
    expect(await roles.isOperator(sessionId)).toBe(true);
    await expect(suite.get(SessionsService).verify(token)).resolves.toMatchObject({ account: { role: 'operator' } });
    expect(await roles.isOperator('another')).toBe(false);
    await roles.set({ id }, 'member');
    expect(await roles.isOperator(sessionId)).toBe(false);
    await roles.set({ id }, 'operator');
    await suite.get(DataSource).query(`UPDATE accounts SET disabled_at = created_at WHERE id = '${id}'`);
    expect(await roles.isOperator(sessionId)).toBe(false);
    await suite.get(AccountStates).disable({ id });
    await suite.get(AccountStates).enable({ id });
    expect(await roles.isOperator(sessionId)).toBe(false);
  });
});
