import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DatabaseModule } from '../database/database.module.js';
import { UsageRecordEntity } from './usage-record.entity.js';
import { UsageReports } from './usage-reports.js';

/** What the ledger says, for whoever only reads it. */
@Module({
  imports: [DatabaseModule, TypeOrmModule.forFeature([UsageRecordEntity])],
  providers: [UsageReports],
  exports: [UsageReports],
})
export class UsageReportsModule {}
