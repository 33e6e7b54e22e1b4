import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CommonModule } from '../common/common.module.js';
import { DatabaseModule } from '../database/database.module.js';
import { Account } from './account/account.entity.js';
import { AccountDirectory } from './accounts/account-directory.js';
import { AccountRoles } from './accounts/account-roles.js';
import { AccountStates } from './accounts/account-states.js';
import { AccountsService } from './accounts/accounts.service.js';
import { DevelopmentAccounts } from './accounts/development-account.js';
import { ApiKeyCreation } from './api-keys/api-key-creation.js';
import { ApiKeyRotation } from './api-keys/api-key-rotation.js';
import { ApiKeyUpdates } from './api-keys/api-key-updates.js';
import { ApiKeyVerifier } from './api-keys/api-key-verifier.js';
import { ApiKey } from './api-keys/api-key.entity.js';
import { ApiKeysService } from './api-keys/api-keys.service.js';
import { LastUsedRecorder } from './api-keys/last-used-recorder.js';
import { RevocationWatch } from './api-keys/revocation-watch.js';
import { PasswordHashing } from './passwords/password-hashing.js';
import { PasswordReplacement } from './passwords/password-replacement.js';
import { ExpiredSessions } from './sessions/expired-sessions.js';
import { SessionUseRecorder } from './sessions/session-use-recorder.js';
import { SessionWatch } from './sessions/session-watch.js';
import { Session } from './sessions/session.entity.js';
import { SessionsService } from './sessions/sessions.service.js';
import { SurplusSessions } from './sessions/surplus-sessions.js';

const services = [
  AccountsService,
  AccountStates,
  AccountRoles,
  AccountDirectory,
  ApiKeysService,
  ApiKeyRotation,
  ApiKeyUpdates,
  ApiKeyVerifier,
  RevocationWatch,
  LastUsedRecorder,
  SessionsService,
  SessionWatch,
  DevelopmentAccounts,
];
const internals = [
  ApiKeyCreation,
  PasswordHashing,
  PasswordReplacement,
  ExpiredSessions,
  SurplusSessions,
  SessionUseRecorder,
];

/** Accounts, their tiers, their API keys and their sessions. */
@Module({
  imports: [CommonModule, DatabaseModule, TypeOrmModule.forFeature([Account, ApiKey, Session])],
  providers: [...services, ...internals],
  // With the clock of the database.
  exports: [...services, DatabaseModule],
})
export class AccountsModule {}
