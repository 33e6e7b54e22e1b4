import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CLOCK, type Clock } from '../common/clock.js';
import { CommonModule } from '../common/common.module.js';
import { DatabaseClock } from '../database/database-clock.js';
import { DatabaseModule } from '../database/database.module.js';
import { Account } from './account.entity.js';
import { AccountsService } from './accounts.service.js';
import { ApiKeyCreation } from './api-key-creation.js';
import { ApiKeyRotation } from './api-key-rotation.js';
import { ApiKeyVerifier } from './api-key-verifier.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeysService } from './api-keys.service.js';
import { ExpiredSessions } from './expired-sessions.js';
import { FirstRun } from './first-run.js';
import { LastUsedRecorder } from './last-used-recorder.js';
import { PasswordHashing } from './password-hashing.js';
import { PasswordReplacement } from './password-replacement.js';
import { RevocationWatch } from './revocation-watch.js';
import { SessionUseRecorder } from './session-use-recorder.js';
import { SessionWatch } from './session-watch.js';
import { Session } from './session.entity.js';
import { SessionsService } from './sessions.service.js';
import { SurplusSessions } from './surplus-sessions.js';

const services = [
  AccountsService,
  ApiKeysService,
  ApiKeyRotation,
  ApiKeyVerifier,
  RevocationWatch,
  LastUsedRecorder,
  SessionsService,
  SessionWatch,
  FirstRun,
];
const internals = [
  ApiKeyCreation,
  PasswordHashing,
  PasswordReplacement,
  ExpiredSessions,
  SurplusSessions,
  SessionUseRecorder,
];

function clockOf(clock: DatabaseClock): Clock {
  return () => clock.now();
}

/** Accounts, their tiers, their API keys and their sessions. */
@Module({
  imports: [CommonModule, DatabaseModule, TypeOrmModule.forFeature([Account, ApiKey, Session])],
  providers: [...services, ...internals, { provide: CLOCK, inject: [DatabaseClock], useFactory: clockOf }],
  exports: [...services, CLOCK],
})
export class AccountsModule {}
