// A process that makes a change to a SQLite database and is killed, by SIGKILL, in the statement that the arguments name.
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { AccountsModule } from '../../dist/accounts/accounts.module.js';
import { AccountStates } from '../../dist/accounts/accounts/account-states.js';
import { AccountsService } from '../../dist/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../dist/accounts/api-keys/api-keys.service.js';
import { PasswordReplacement } from '../../dist/accounts/passwords/password-replacement.js';
import { ConfigModule } from '../../dist/platform/config/config.module.js';
import { loadConfig } from '../../dist/platform/config/load-config.js';

const [path, operation, table, event, accountId, keyId] = process.argv.slice(2);
const config = loadConfig({ DATABASE_URL: `sqlite:${path}` });
const module = { module: class {}, imports: [ConfigModule.forRoot(config), AccountsModule] };
const app = await NestFactory.createApplicationContext(module, { logger: false });
const { databaseConnection } = app.get(DataSource).driver;
databaseConnection.function('die', { directOnly: false }, () => process.kill(process.pid, 'SIGKILL'));
databaseConnection.exec(`CREATE TEMP TRIGGER test_fault BEFORE ${event} ON ${table} BEGIN SELECT die(); END`);

const emailOf = async (id) => (await app.get(AccountsService).findById(id)).email;
const operations = {
  'rotate-at-once': () => app.get(ApiKeysService).rotate(keyId, accountId, { overlapMs: 0 }),
  'rotate-later': () => app.get(ApiKeysService).rotate(keyId, accountId, { overlapMs: 3_600_000 }),
  'replace-password': async () =>
    app
      .get(PasswordReplacement, { strict: false })
      .replace(await app.get(AccountsService).findById(accountId), 'another-hash', { revokeKeys: true }),
  disable: async () => app.get(AccountStates, { strict: false }).disable(await emailOf(accountId)),
  delete: async () => app.get(AccountStates, { strict: false }).delete(await emailOf(accountId)),
};
await operations[operation]();
process.exit(0);
