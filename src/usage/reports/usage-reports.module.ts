import { Module } from '@nestjs/common';
import { CommonModule } from '../../common/common.module.js';
import { DatabaseModule } from '../../database/database.module.js';
import { AccountSums } from './account-sums.js';
import { ReportSemaphore } from './report-semaphore.js';
import { RecentStreams } from './recent-streams.js';
import { UsageReports } from './usage-reports.js';

/** Provides the reports of the ledger to modules that only read the ledger. */
@Module({
  imports: [CommonModule, DatabaseModule],
  providers: [UsageReports, AccountSums, RecentStreams, ReportSemaphore],
  exports: [UsageReports, AccountSums, RecentStreams, ReportSemaphore],
})
export class UsageReportsModule {}
