import type { Type } from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';
import { ExtensionPoint } from '../../common/extensions/extension-point.js';
import { AddAccountRole1765500001000 } from './add-account-role.js';
import { AddAccountState1765300001000 } from './add-account-state.js';
import { AddKeyLimits1766411000000 } from './add-key-limits.js';
import { AddListIndexes1765600000000 } from './add-list-indexes.js';
import { AddToolCalls1766413000000 } from './add-tool-calls.js';
import { AddTokenKinds1765300000000 } from './add-token-kinds.js';
import { AddDetachedStreams1765400000000 } from './add-detached-streams.js';
import { AddWriterLock1765500000000 } from './add-writer-lock.js';
import { CreateAccountsAndApiKeys1760000000000 } from './create-accounts-and-api-keys.js';
import { CreateBudgetHolds1766412000000 } from './create-budget-holds.js';
import { CreateSessions1764000000000 } from './create-sessions.js';
import { CreateUsage1763700000000 } from './create-usage.js';
import { CreateUsageDays1765200000000 } from './create-usage-days.js';
import { CreateUsageSetAside1765200001000 } from './create-usage-set-aside.js';
import { WidenUsageTokens1765200002000 } from './widen-usage-tokens.js';

/**
 * All migrations, oldest first. The number in a class name is its timestamp, in milliseconds since 1970.
 *
 * Each migration must work on SQLite and PostgreSQL. Use `Table`, `TableColumn` and the types `text`, `integer` and
 * `boolean`. Never use an entity in a migration, because entities change later.
 */
export const MIGRATIONS: (new () => MigrationInterface)[] = [
  CreateAccountsAndApiKeys1760000000000,
  CreateUsage1763700000000,
  CreateSessions1764000000000,
  CreateUsageDays1765200000000,
  CreateUsageSetAside1765200001000,
  WidenUsageTokens1765200002000,
  AddTokenKinds1765300000000,
  AddAccountState1765300001000,
  AddDetachedStreams1765400000000,
  AddWriterLock1765500000000,
  AddAccountRole1765500001000,
  AddListIndexes1765600000000,
  AddKeyLimits1766411000000,
  CreateBudgetHolds1766412000000,
  AddToolCalls1766413000000,
];

/** The migrations of plugins. */
export const PLUGIN_MIGRATIONS = new ExtensionPoint<Type<MigrationInterface>>('migrations');
