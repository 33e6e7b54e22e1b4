import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CommonModule } from '../common/common.module.js';
import { DatabaseModule } from '../database/database.module.js';
import { OutboxModule } from '../webhooks/outbox/outbox.module.js';
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
import { ExpiringKeys } from './api-keys/expiring-keys.js';
import { LeakedKeys } from './leaks/leaked-keys.js';
import { LastUsedRecorder } from './api-keys/last-used-recorder.js';
import { RevocationWatch } from './api-keys/revocation-watch.js';
import { AuditDelivery } from './audit/audit-delivery.js';
import { AuditLog } from './audit/audit-log.js';
import { AuditRounds } from './audit/audit-rounds.js';
import { SinkPositions } from './audit/sink-positions.js';
import { AccountChanges } from './ended/account-changes.js';
import { EndedCredentials } from './ended/ended-credentials.js';
import { AccountIdentity } from './identities/account-identity.entity.js';
import { AccountPreparation } from './identities/account-preparation.js';
import { IdentitiesService } from './identities/identities.service.js';
import { IssuerLogout } from './identities/issuer-logout.js';
import { SessionIdentity } from './sessions/session-identity.entity.js';
import { Invitation } from './links/invitation.entity.js';
import { Invitations } from './links/invitations.service.js';
import { OperatorKeyUse } from './operator-keys/operator-key-use.js';
import { OperatorKeyVerifier } from './operator-keys/operator-key-verifier.js';
import { OperatorKey } from './operator-keys/operator-key.entity.js';
import { OperatorKeys } from './operator-keys/operator-keys.service.js';
import { OperatorRequests } from './operator-keys/operator-requests.js';
import { PasswordReset } from './links/password-reset.entity.js';
import { PasswordResets } from './links/password-resets.service.js';
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
  Invitations,
  PasswordResets,
  AuditLog,
  AuditRounds,
  ApiKeysService,
  ApiKeyRotation,
  ApiKeyUpdates,
  LeakedKeys,
  ExpiringKeys,
  ApiKeyVerifier,
  RevocationWatch,
  LastUsedRecorder,
  SessionsService,
  SessionWatch,
  DevelopmentAccounts,
  IdentitiesService,
  AccountPreparation,
  IssuerLogout,
  OperatorKeys,
  OperatorKeyVerifier,
  OperatorRequests,
];
const internals = [
  ApiKeyCreation,
  PasswordHashing,
  PasswordReplacement,
  ExpiredSessions,
  SurplusSessions,
  SessionUseRecorder,
  EndedCredentials,
  AccountChanges,
  AuditDelivery,
  SinkPositions,
  OperatorKeyUse,
];

/** Accounts, their tiers, their API keys and their sessions. */
@Module({
  imports: [
    CommonModule,
    DatabaseModule,
    OutboxModule,
    TypeOrmModule.forFeature([
      Account,
      AccountIdentity,
      ApiKey,
      Invitation,
      OperatorKey,
      PasswordReset,
      Session,
      SessionIdentity,
    ]),
  ],
  providers: [...services, ...internals],
  // With the clock of the database.
  exports: [...services, DatabaseModule],
})
export class AccountsModule {}
