import { Global, Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { DatabaseModule } from '../platform/database/database.module.js';
import { OutboxModule } from '../platform/outbox/outbox.module.js';
import { RedisModule } from '../platform/redis/redis.module.js';
import { TokensUsed } from '../throttling/tokens/tokens-used.js';
import { BudgetEvents } from './budgets/budget-events.js';
import { BudgetChecks } from './budgets/budget-checks.js';
import { ReservationQueue, RunningReservations } from './budgets/running-reservations.js';
import { ListedBudgets } from './budgets/listed-budgets.js';
import { SharedReservations } from './budgets/shared-reservations.js';
import { SpendBudgets } from './budgets/spend-budgets.js';
import { InterruptedStreams } from './ledger/interrupted-streams.js';
import { RecordRetention } from './ledger/record-retention.js';
import { RecordWriter } from './ledger/record-writer.js';
import { UsageLedger } from './ledger/usage-ledger.js';
import { UsageReports } from './queries/usage-reports.js';
import { UsageReportsModule } from './queries/usage-reports.module.js';
import { UnsharedLimits } from './store/unshared-limits.js';
import { UsageStore } from './store/usage-store.js';
import { UsageWriters } from './store/usage-writers.js';
import { UsageFeeds } from './usage-feeds.js';

const services = [UsageLedger, InterruptedStreams, SpendBudgets, ListedBudgets, UnsharedLimits];

/** Provides the ledger, with exactly one record for each admitted stream. */
@Global()
@Module({
  imports: [DatabaseModule, AccountsModule, OutboxModule, RedisModule, UsageReportsModule],
  providers: [
    ...services,
    RecordWriter,
    RecordRetention,
    ReservationQueue,
    BudgetEvents,
    BudgetChecks,
    RunningReservations,
    SharedReservations,
    UsageFeeds,
    UsageWriters,
    {
      provide: TokensUsed,
      inject: [UsageReports],
      useFactory: (reports: UsageReports): TokensUsed => ({
        since: (accountId, from, key) => reports.tokensSince(accountId, from, key),
      }),
    },
    UsageStore,
  ],
  exports: [...services, UsageReportsModule, TokensUsed],
})
export class UsageModule {}
