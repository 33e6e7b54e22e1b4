import type { Type } from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';
import { ExtensionPoint } from '../../common/extensions/extension-point.js';
import { ACCOUNT_MIGRATIONS } from './account-migrations.js';
import type { Migration } from './migration.js';
import { OPERATOR_MIGRATIONS } from './operator-migrations.js';
import { USAGE_MIGRATIONS } from './usage-migrations.js';

/**
 * All migrations, oldest first. The number in the name is the time of the migration, in milliseconds since 1970.
 *
 * Each migration must work on SQLite and PostgreSQL. Never use an entity in a migration, because entities change later.
 */
export const MIGRATIONS: Migration[] = [...ACCOUNT_MIGRATIONS, ...USAGE_MIGRATIONS, ...OPERATOR_MIGRATIONS].sort(
  (one, other) => timeOf(one) - timeOf(other),
);

function timeOf({ name }: Migration): number {
  return Number(name.slice(-13));
}

/** The migrations of plugins. */
export const PLUGIN_MIGRATIONS = new ExtensionPoint<Type<MigrationInterface>>('migrations');
