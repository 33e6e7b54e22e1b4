import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CLOCK, type Clock } from '../common/clock.js';
import { DatabaseModule } from '../database/database.module.js';
import { Account } from './account.entity.js';
import { AccountsService } from './accounts.service.js';
import { ApiKeyVerifier } from './api-key-verifier.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeysService } from './api-keys.service.js';
import { FirstRun } from './first-run.js';
import { LastUsedRecorder } from './last-used-recorder.js';
import { RevocationWatch } from './revocation-watch.js';

const services = [AccountsService, ApiKeysService, ApiKeyVerifier, RevocationWatch, LastUsedRecorder, FirstRun];
const systemClock: Clock = () => Date.now();

/** Accounts, their tiers and their API keys. */
@Module({
  imports: [DatabaseModule, TypeOrmModule.forFeature([Account, ApiKey])],
  providers: [...services, { provide: CLOCK, useValue: systemClock }],
  exports: services,
})
export class AccountsModule {}
