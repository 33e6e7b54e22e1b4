import { Global, Module, type DynamicModule } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { DatabaseModule } from '../database/database.module.js';
import { DatabaseUsageStore } from './database-usage-store.js';
import { InterruptedStreams } from './interrupted-streams.js';
import { RecordWriter } from './record-writer.js';
import { UsageController } from './usage.controller.js';
import { UsageLedger } from './usage-ledger.js';
import { UsageReportsModule } from './usage-reports.module.js';
import { USAGE_SINKS, type UsageSink } from './usage-sink.js';
import { UsageStore } from './usage-store.js';

export interface UsageOptions {
  /** Who is told of every finished stream, beside the ledger. */
  readonly usageSinks?: readonly UsageSink[];
  /** Where the ledger is kept; by default in the service's database, which is the one that the reports read. */
  readonly usageStore?: UsageStore;
}

/** The ledger: exactly one record for every admitted stream, and what it sums up to. */
@Global()
@Module({})
export class UsageModule {
  static register({ usageSinks = [], usageStore }: UsageOptions = {}): DynamicModule {
    return {
      module: UsageModule,
      imports: [DatabaseModule, AccountsModule, UsageReportsModule],
      controllers: [UsageController],
      providers: [
        UsageLedger,
        RecordWriter,
        InterruptedStreams,
        { provide: USAGE_SINKS, useValue: usageSinks },
        usageStore === undefined
          ? { provide: UsageStore, useClass: DatabaseUsageStore }
          : { provide: UsageStore, useValue: usageStore },
      ],
      exports: [UsageLedger, UsageReportsModule],
    };
  }
}
