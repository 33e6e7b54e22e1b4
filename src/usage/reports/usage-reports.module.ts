import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CommonModule } from '../../common/common.module.js';
import { DatabaseModule } from '../../database/database.module.js';
import { UsageRecordEntity } from '../store/usage-record.entity.js';
import { ReportGate } from './report-gate.js';
import { UsageReports } from './usage-reports.js';

/** What the ledger says, for whoever only reads it. */
@Module({
  imports: [CommonModule, DatabaseModule, TypeOrmModule.forFeature([UsageRecordEntity])],
  providers: [UsageReports, ReportGate],
  exports: [UsageReports, ReportGate],
})
export class UsageReportsModule {}
