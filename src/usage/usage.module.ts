import { Global, Module, type DynamicModule } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import type { ProvidedExtension } from '../common/extensions/extension-point.js';
import { DatabaseModule } from '../database/database.module.js';
import { OutboxModule } from '../webhooks/outbox/outbox.module.js';
import { BudgetEvents } from './budgets/budget-events.js';
import { BudgetRounds } from './budgets/budget-rounds.js';
import { HoldQueue } from './budgets/hold-queue.js';
import { KeyBudgets } from './budgets/key-budgets.js';
import { RunningHolds } from './budgets/running-holds.js';
import { SharedHolds } from './budgets/shared-holds.js';
import { SpendBudgets } from './budgets/spend-budgets.js';
import { FeedEntries } from './feeds/feed-entries.js';
import { UsageFeeds } from './feeds/usage-feeds.js';
import { InterruptedStreams } from './ledger/interrupted-streams.js';
import { RecordRetention } from './ledger/record-retention.js';
import { RecordWriter } from './ledger/record-writer.js';
import { UsageLedger } from './ledger/usage-ledger.js';
import { ReceiptSemaphore } from './receipts/receipt-semaphore.js';
import { ReceiptsController } from './receipts/receipts.controller.js';
import { StreamReceipts } from './receipts/stream-receipts.js';
import { UsageReportsModule } from './reports/usage-reports.module.js';
import { UsageController } from './reports/usage.controller.js';
import { DatabaseUsageStore } from './store/database-usage-store.js';
import { UnsharedLimits } from './store/unshared-limits.js';
import { UsageStore } from './store/usage-store.js';

export interface UsageOptions {
  /** The store of the ledger. Default: the database of the service. Reports always read the database of the service. */
  readonly usageStore?: ProvidedExtension | undefined;
}

/** Provides the ledger, with exactly one record for each admitted stream, and the reports and receipts from it. */
@Global()
@Module({})
export class UsageModule {
  static register({ usageStore }: UsageOptions = {}): DynamicModule {
    return {
      module: UsageModule,
      imports: [
        DatabaseModule,
        AccountsModule,
        OutboxModule,
        UsageReportsModule,
        ...(usageStore === undefined ? [] : [usageStore.module]),
      ],
      controllers: [UsageController, ReceiptsController],
      providers: [
        UsageLedger,
        RecordWriter,
        InterruptedStreams,
        RecordRetention,
        StreamReceipts,
        ReceiptSemaphore,
        SpendBudgets,
        HoldQueue,
        KeyBudgets,
        BudgetEvents,
        BudgetRounds,
        RunningHolds,
        SharedHolds,
        UnsharedLimits,
        FeedEntries,
        UsageFeeds,
        usageStore === undefined
          ? { provide: UsageStore, useClass: DatabaseUsageStore }
          : { provide: UsageStore, useExisting: usageStore.token },
      ],
      exports: [UsageLedger, UsageReportsModule, UnsharedLimits, SpendBudgets, KeyBudgets],
    };
  }
}
