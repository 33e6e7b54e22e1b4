import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CommonModule } from '../platform/common/common.module.js';
import { DatabaseModule } from '../platform/database/database.module.js';
import { OutboxModule } from '../platform/outbox/outbox.module.js';
import { Account } from './account/account.entity.js';
import { AccountDirectory } from './accounts/account-directory.js';
import { AccountRoles } from './accounts/account-roles.js';
import { AccountStates } from './accounts/account-states.js';
import { AccountsService } from './accounts/accounts.service.js';
import { DevelopmentAccounts } from './accounts/development-account.js';
import { ApiKeyCreation } from './api-keys/api-key-creation.js';
import { ApiKeyVerifier, LastUsedRecorder } from './api-keys/api-key-verifier.js';
import { ApiKey } from './api-keys/api-key.entity.js';
import { ApiKeysService } from './api-keys/api-keys.service.js';
import { ExpiringKeys } from './api-keys/expiring-keys.js';
import { LeakedKeys } from './leaks/leaked-keys.js';
import { AuditLog } from './audit/audit-log.js';
import { AuditSinks, AuditTasks } from './audit/audit-sinks.js';
import { AccountChanges } from './credentials/account-changes.js';
import { CredentialWatch } from './ended/credential-watch.js';
import { AccountIdentity, AccountPreparation, IdentitiesService } from './identities/identities.service.js';
import { IssuerLogout } from './identities/issuer-logout.js';
import { Session, SessionIdentity } from './sessions/session.entity.js';
import { Invitations } from './links/invitations.service.js';
import { Invitation, OneTimeLink, OneTimeLinks, PasswordReset } from './links/one-time-links.js';
import { PasswordResets } from './links/password-resets.service.js';
import { OperatorKey, OperatorKeyUse, OperatorKeyVerifier } from './operator-keys/operator-key-verifier.js';
import { OperatorKeys } from './operator-keys/operator-keys.service.js';
import { OperatorTree } from './operator-keys/operator-tree.js';
import { OperatorRequests } from './operator-keys/operator-requests.js';
import { PasswordHashing } from './passwords/password-hashing.js';
import { PasswordReplacement } from './passwords/password-replacement.js';
import { SessionsService, SessionUseRecorder } from './sessions/sessions.service.js';

const services = [
  AccountsService,
  AccountStates,
  AccountRoles,
  AccountDirectory,
  Invitations,
  PasswordResets,
  AuditLog,
  AuditTasks,
  ApiKeysService,
  LeakedKeys,
  ExpiringKeys,
  ApiKeyVerifier,
  AccountChanges,
  CredentialWatch,
  LastUsedRecorder,
  SessionsService,
  DevelopmentAccounts,
  IdentitiesService,
  AccountPreparation,
  IssuerLogout,
  OperatorKeys,
  OperatorKeyVerifier,
  OperatorTree,
  OperatorRequests,
];
const internals = [
  OneTimeLinks,
  ApiKeyCreation,
  PasswordHashing,
  PasswordReplacement,
  SessionUseRecorder,
  AuditSinks,
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
      OneTimeLink,
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
