// What plugins use of accounts.
export { type Account, ACCOUNT_ROLES, accountIdOf, type AccountRole } from '../../accounts/account/account.entity.js';
export { isEmail, normalizeEmail } from '../../accounts/account/account.entity.js';
export { AccountsModule } from '../../accounts/accounts.module.js';
export {
  AccountDirectory,
  type AccountPage,
  type AccountPosition,
  type ListedAccount,
} from '../../accounts/accounts/account-directory.js';
export { AccountRoles } from '../../accounts/accounts/account-roles.js';
export {
  type AccountState,
  AccountStates,
  type AccountWithState,
  stateOf,
} from '../../accounts/accounts/account-states.js';
export { type AccountReference, AccountsService } from '../../accounts/accounts/accounts.service.js';
export type { KeyLimitChanges } from '../../accounts/api-keys/api-key.entity.js';
export {
  type ApiKeyChanges,
  ApiKeysService,
  type CreatedApiKey,
  type ListedApiKey,
  type NewApiKey,
  wireApiKey,
} from '../../accounts/api-keys/api-keys.service.js';
export { checkBudgetPeriod } from '../../accounts/api-keys/key-limits.js';
export {
  AUDIT_ACTIONS,
  auditDay,
  type AuditEntry,
  type AuditFilter,
  AuditLog,
  type AuditPage,
  type ChangeAuthor,
  wireEntry,
} from '../../accounts/audit/audit-log.js';
export {
  AccountPreparation,
  IdentitiesService,
  type AccountIdentity,
  type NamedIdentity,
} from '../../accounts/identities/identities.service.js';
export { IssuerLogout, type Logout } from '../../accounts/identities/issuer-logout.js';
export { Invitations } from '../../accounts/links/invitations.service.js';
export type { Invitation } from '../../accounts/links/one-time-links.js';
export { PasswordResets } from '../../accounts/links/password-resets.service.js';
export { OPERATOR_SCOPES, type OperatorScope } from '../../accounts/operator-keys/operator-key-verifier.js';
export {
  type ListedOperatorKey,
  OperatorKeys,
  wireOperatorKey,
} from '../../accounts/operator-keys/operator-keys.service.js';
export { OperatorRequests } from '../../accounts/operator-keys/operator-requests.js';
export { type CascadeOptions, type GrantedAccess, OperatorTree } from '../../accounts/operator-keys/operator-tree.js';
export { hasPassword } from '../../accounts/passwords/password-hashing.js';
export { type SessionOrigin, SessionsService, type VerifiedSession } from '../../accounts/sessions/sessions.service.js';
