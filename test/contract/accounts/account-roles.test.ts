import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountRoles } from '../../../src/accounts/accounts/account-roles.js';
import { AccountStates } from '../../../src/accounts/accounts/account-states.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { AddAccountRole } from '../../../src/database/migrations/account-migrations.js';
import { MIGRATIONS } from '../../../src/database/migrations/all-migrations.js';
import { CreateAuditEntries, CreateOperatorKeys } from '../../../src/database/migrations/operator-migrations.js';
import { dataSourceOptions, openDataSource } from '../../../src/database/open-data-source.js';
import { testEngines, type TestDatabase } from '../../support/database.js';
import { accountsSuite } from './accounts-app.js';
import { admin } from './admin-process.js';
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

describe.each(await testEngines())('an upgrade to accounts with roles on $name', (engine) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await engine.create();
  });
  afterAll(() => database.drop());

  const INSERT = `INSERT INTO accounts (id, email, password_hash, tier, created_at)`;

  it('keeps the accounts as members, also accounts that a replica of the previous version still makes', async () => {
    const at = MIGRATIONS.indexOf(AddAccountRole);
    const later = MIGRATIONS.splice(at);
    const before = await openDataSource(dataSourceOptions(database.config)).finally(() => MIGRATIONS.push(...later));
    await before.query(`${INSERT} VALUES ('old', 'old@example.com', 'x', 'pro', '2026-01-01T00:00:00.000Z')`);
    await before.destroy();

    const after = await openDataSource(dataSourceOptions(database.config));
    await after.query(`${INSERT} VALUES ('new', 'new@example.com', 'x', 'pro', '2026-01-02T00:00:00.000Z')`);
    expect(await after.query('SELECT id, tier, role FROM accounts ORDER BY created_at')).toEqual([
      { id: 'old', tier: 'pro', role: 'member' },
      { id: 'new', tier: 'pro', role: 'member' },
    ]);
    const migration = new AddAccountRole();
    const runner = after.createQueryRunner();
    // The triggers of the audit log read the column.
    await new CreateOperatorKeys().down(runner);
    await new CreateAuditEntries().down(runner);
    await migration.down(runner);
    expect(await after.query('SELECT id FROM accounts ORDER BY id')).toEqual([{ id: 'new' }, { id: 'old' }]);
    await migration.up(runner);
    await runner.release();
    await after.destroy();
  });
});
