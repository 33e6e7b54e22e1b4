import type { Type } from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';
import { ExtensionPoint } from '../../common/extensions/extension-point.js';
import { AddAccountRole1765500001000 } from './add-account-role.js';
import { AddAccountState1765300001000 } from './add-account-state.js';
import { AddKeyLimits1766411000000 } from './add-key-limits.js';
import { AddListIndexes1765600000000 } from './add-list-indexes.js';
import { AddTokenKinds1765300000000 } from './add-token-kinds.js';
import { AddWriterLock1765500000000 } from './add-writer-lock.js';
import { CreateAccountIdentities1766417000000 } from './create-account-identities.js';
import { CreateAccountLinks1766421001000 } from './create-account-links.js';
import { CreateAccountsAndApiKeys1760000000000 } from './create-accounts-and-api-keys.js';
import { CreateAuditEntries1766423000000 } from './create-audit-entries.js';
import { CreateAuditSinks1766431002000 } from './create-audit-sinks.js';
import { CreateBudgetHolds1766412000000 } from './create-budget-holds.js';
import { CreateOperatorKeys1766431000000 } from './create-operator-keys.js';
import { CreateOperatorRequests1766431001000 } from './create-operator-requests.js';
import { CreateRefusedRequests1766421000000 } from './create-refused-requests.js';
import { CreateSessions1764000000000 } from './create-sessions.js';
import { CreateUsage1763700000000 } from './create-usage.js';
import { CreateUsageDays1765200000000 } from './create-usage-days.js';
import { CreateUsageFeeds1766441000000 } from './create-usage-feeds.js';
import { CreateUsageSetAside1765200001000 } from './create-usage-set-aside.js';
import { CreateWebhookDeliveries1766432000000 } from './create-webhook-deliveries.js';
import { RECORD_COLUMN_MIGRATIONS } from './record-column-migrations.js';
import { WidenUsageTokens1765200002000 } from './widen-usage-tokens.js';

/**
 * All migrations, oldest first. The number in a class name is its timestamp, in milliseconds since 1970.
 *
 * Each migration must work on SQLite and PostgreSQL. Use `Table`, `TableColumn` and the types `text`, `integer` and
 * `boolean`. Never use an entity in a migration, because entities change later. A new column of
 * the usage records is a line in `record-column-migrations.ts`.
 */
export const MIGRATIONS: (new () => MigrationInterface)[] = [
  ...RECORD_COLUMN_MIGRATIONS,
  CreateAccountsAndApiKeys1760000000000,
  CreateUsage1763700000000,
  CreateSessions1764000000000,
  CreateUsageDays1765200000000,
  CreateUsageSetAside1765200001000,
  WidenUsageTokens1765200002000,
  AddTokenKinds1765300000000,
  AddAccountState1765300001000,
  AddWriterLock1765500000000,
  AddAccountRole1765500001000,
  AddListIndexes1765600000000,
  AddKeyLimits1766411000000,
  CreateBudgetHolds1766412000000,
  CreateAccountIdentities1766417000000,
  CreateRefusedRequests1766421000000,
  CreateAccountLinks1766421001000,
  CreateAuditEntries1766423000000,
  CreateOperatorKeys1766431000000,
  CreateOperatorRequests1766431001000,
  CreateAuditSinks1766431002000,
  CreateWebhookDeliveries1766432000000,
  CreateUsageFeeds1766441000000,
];
// The number in the name decides the order.
MIGRATIONS.sort((one, other) => Number(one.name.slice(-13)) - Number(other.name.slice(-13)));

/** The migrations of plugins. */
export const PLUGIN_MIGRATIONS = new ExtensionPoint<Type<MigrationInterface>>('migrations');
