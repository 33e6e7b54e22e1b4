import { Injectable, Module } from '@nestjs/common';
import { TokensUsed } from '../../throttling/tokens/tokens-used.js';
import { UsageReports } from './usage-reports.js';
import { UsageReportsModule } from './usage-reports.module.js';

/** Provides the used tokens from the ledger to the limits, when the limits have lost their own counters. */
@Injectable()
export class LedgerTokensUsed extends TokensUsed {
  constructor(private readonly reports: UsageReports) {
    super();
  }

  since(accountId: string, from: Date, key?: string): Promise<number> {
    return this.reports.tokensSince(accountId, from, key);
  }
}

@Module({
  imports: [UsageReportsModule],
  providers: [LedgerTokensUsed],
  exports: [LedgerTokensUsed],
})
export class LedgerTokensUsedModule {}
