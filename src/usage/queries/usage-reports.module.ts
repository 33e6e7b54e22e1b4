import { Module } from '@nestjs/common';
import { CommonModule } from '../../platform/common/common.module.js';
import { DatabaseModule } from '../../platform/database/database.module.js';
import { HourSums } from './hour-sums.js';
import { ReportSemaphore } from './usage-period.js';
import { RecentStreams } from './recent-streams.js';
import { UsageReports } from './usage-reports.js';

/** Provides the reports of the ledger to modules that only read the ledger. */
@Module({
  imports: [CommonModule, DatabaseModule],
  providers: [UsageReports, HourSums, RecentStreams, ReportSemaphore],
  exports: [UsageReports, HourSums, RecentStreams, ReportSemaphore],
})
export class UsageReportsModule {}
