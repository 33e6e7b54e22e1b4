// A start on a SQLite database that is killed, by SIGKILL, after the statements of the migration that the arguments name.
import { MIGRATIONS } from '../../dist/platform/database/migrations/all-migrations.js';
import { dataSourceOptions, openDataSource } from '../../dist/platform/database/database.module.js';

const [path, name] = process.argv.slice(2);
const { prototype } = MIGRATIONS.find((migration) => migration.name === name);
const { up } = prototype;
prototype.up = async function (queryRunner) {
  await up.call(this, queryRunner);
  process.kill(process.pid, 'SIGKILL');
};
await openDataSource(dataSourceOptions({ type: 'sqlite', path }));
