import type { INestApplicationContext, Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { AccountRoles } from '../../../src/accounts/accounts/account-roles.js';
import { AccountStates } from '../../../src/accounts/accounts/account-states.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeyCreation } from '../../../src/accounts/api-keys/api-key-creation.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { AuditLog } from '../../../src/accounts/audit/audit-log.js';
import { AccountPreparation, IdentitiesService } from '../../../src/accounts/identities/identities.service.js';
import { IssuerLogout } from '../../../src/accounts/identities/issuer-logout.js';
import { LeakedKeys } from '../../../src/accounts/leaks/leaked-keys.js';
import { Invitations } from '../../../src/accounts/links/invitations.service.js';
import { OneTimeLinks } from '../../../src/accounts/links/one-time-links.js';
import { PasswordResets } from '../../../src/accounts/links/password-resets.service.js';
import { OperatorKeys } from '../../../src/accounts/operator-keys/operator-keys.service.js';
import { OperatorRequests } from '../../../src/accounts/operator-keys/operator-requests.js';
import { PasswordReplacement } from '../../../src/accounts/passwords/password-replacement.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { OutboxEntries } from '../../../src/platform/outbox/outbox-entries.js';
import { AtomicStatements } from '../../../src/platform/database/queries/atomic-statements.js';
import { auditedRows, failAuditLog } from '../../support/audit-fault.js';
import { testEngines } from '../../support/database.js';
import { PASSWORD } from '../../support/usual-password.js';
import { accountsSuite } from './accounts-app.js';

const ISSUER = 'https://id.example.com';

interface Subject {
  readonly app: INestApplicationContext;
  readonly email: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly key: string;
  readonly sessionId: string;
}

interface Change {
  readonly of: Type;
  readonly method: string;
  /** What must exist before the change. */
  readonly before?: (subject: Subject) => Promise<unknown>;
  readonly run: (subject: Subject) => Promise<unknown>;
  readonly actions: readonly string[];
}

const identityOf = ({ accountId }: Subject) => ({ issuer: ISSUER, subject: accountId, email: undefined });
const invite = ({ app, accountId }: Subject) =>
  app.get(Invitations).create({
    ...{ email: `invited-${accountId}@example.com`, tier: 'free', role: 'member' },
    ...{ createdBy: accountId, validDays: 1 },
  });
const operatorKey = ({ app }: Subject) => app.get(OperatorKeys).create({ name: 'ci', scope: 'read' });

/** The changes of all services. */
const CHANGES: readonly Change[] = [
  {
    ...{ of: AccountsService, method: 'create', actions: ['account.created'] },
    run: ({ app, accountId }) => app.get(AccountsService).create({ email: `new-${accountId}@example.com` }),
  },
  {
    ...{ of: AccountsService, method: 'setTier', actions: ['account.tier_changed'] },
    run: ({ app, accountId }) => app.get(AccountsService).setTier({ id: accountId }, 'pro'),
  },
  {
    ...{
      of: PasswordReplacement,
      method: 'replace',
      actions: ['account.password_changed', 'key.revoked', 'session.ended'],
    },
    run: ({ app, accountId }) =>
      app.get(AccountsService).setPassword({ id: accountId }, `${PASSWORD} 2`, { revokeKeys: true }),
  },
  {
    ...{ of: AccountRoles, method: 'set', actions: ['account.role_changed'] },
    run: ({ app, accountId }) => app.get(AccountRoles).set({ id: accountId }, 'operator'),
  },
  {
    ...{ of: AccountStates, method: 'disable', actions: ['account.disabled', 'session.ended'] },
    run: ({ app, accountId }) => app.get(AccountStates).disable({ id: accountId }),
  },
  {
    ...{ of: AccountStates, method: 'enable', actions: ['account.enabled'] },
    before: ({ app, accountId }) => app.get(AccountStates).disable({ id: accountId }),
    run: ({ app, accountId }) => app.get(AccountStates).enable({ id: accountId }),
  },
  {
    ...{ of: AccountStates, method: 'delete', actions: ['account.deleted', 'session.ended'] },
    run: ({ app, accountId }) => app.get(AccountStates).delete({ id: accountId }),
  },
  {
    ...{ of: ApiKeyCreation, method: 'create', actions: ['key.created'] },
    run: ({ app, accountId }) => app.get(ApiKeysService).create(accountId, { name: 'second' }),
  },
  {
    ...{ of: ApiKeysService, method: 'rotate', actions: ['key.created', 'key.revoked'] },
    run: ({ app, accountId, keyId }) => app.get(ApiKeysService).rotate(keyId, accountId, { overlapMs: 0 }),
  },
  {
    ...{ of: ApiKeysService, method: 'update', actions: ['key.updated'] },
    run: ({ app, keyId }) => app.get(ApiKeysService).update(keyId, { limits: { requestsPerMinute: 5 } }),
  },
  {
    ...{ of: ApiKeysService, method: 'revoke', actions: ['key.revoked'] },
    run: ({ app, keyId }) => app.get(ApiKeysService).revoke(keyId),
  },
  {
    ...{ of: LeakedKeys, method: 'revoke', actions: ['key.revoked'] },
    run: ({ app, key }) => app.get(LeakedKeys).revoke([{ text: key, url: '' }], undefined),
  },
  {
    ...{ of: SessionsService, method: 'create', actions: ['session.created'] },
    run: ({ app, accountId }) => app.get(SessionsService).create(accountId),
  },
  {
    ...{ of: SessionsService, method: 'end', actions: ['session.ended'] },
    run: ({ app, sessionId }) => app.get(SessionsService).end(sessionId),
  },
  {
    ...{ of: SessionsService, method: 'endAllOf', actions: ['session.ended'] },
    run: ({ app, accountId }) => app.get(SessionsService).endAllOf(accountId),
  },
  {
    ...{ of: IdentitiesService, method: 'link', actions: ['identity.linked'] },
    run: (subject) => subject.app.get(IdentitiesService).link(identityOf(subject), subject.accountId),
  },
  {
    ...{ of: IdentitiesService, method: 'unlink', actions: ['identity.unlinked'] },
    before: (subject) => subject.app.get(IdentitiesService).link(identityOf(subject), subject.accountId),
    run: ({ app, accountId }) => app.get(IdentitiesService).unlink(accountId, ISSUER),
  },
  {
    ...{ of: IdentitiesService, method: 'createAccount', actions: ['account.created', 'identity.linked'] },
    run: ({ app, accountId }) =>
      app
        .get(IdentitiesService)
        .createAccount(
          { issuer: ISSUER, subject: `new-${accountId}`, email: undefined },
          { email: `linked-${accountId}@example.com`, tier: 'free' },
        ),
  },
  {
    ...{ of: IssuerLogout, method: 'end', actions: ['key.revoked', 'session.ended'] },
    before: async (subject) => {
      await subject.app.get(IdentitiesService).link(identityOf(subject), subject.accountId);
      await subject.app.get(SessionsService).end(subject.sessionId);
      const origin = { issuer: ISSUER, subject: subject.accountId, sid: null, idToken: null };
      await subject.app.get(SessionsService).create(subject.accountId, origin);
    },
    run: ({ app, accountId }) =>
      app.get(IssuerLogout).end(
        {
          issuer: ISSUER,
          subject: accountId,
          sid: undefined,
          tokenId: accountId,
          tokenExpiresAt: Date.now() + 60_000,
        },
        true,
      ),
  },
  {
    ...{ of: Invitations, method: 'create', actions: ['invitation.created'] },
    run: invite,
  },
  {
    ...{ of: Invitations, method: 'accept', actions: ['account.created', 'invitation.ended'] },
    before: invite,
    run: async ({ app, accountId }) => {
      const all = await app.get(Invitations).list();
      const invitation = all.find(({ createdBy }) => createdBy === accountId);
      if (invitation !== undefined) await app.get(Invitations).accept(invitation, PASSWORD);
    },
  },
  {
    ...{ of: PasswordResets, method: 'create', actions: ['password_reset.created'] },
    run: ({ app, accountId }) => app.get(PasswordResets).create(accountId, accountId),
  },
  {
    ...{ of: PasswordResets, method: 'revoke', actions: ['password_reset.ended'] },
    before: ({ app, accountId }) => app.get(PasswordResets).create(accountId, accountId),
    run: ({ app, accountId }) => app.get(PasswordResets).revoke(accountId),
  },
  { of: OperatorKeys, method: 'create', actions: ['operator_key.created'], run: operatorKey },
  {
    ...{ of: OperatorKeys, method: 'revoke', actions: ['operator_key.revoked'] },
    before: operatorKey,
    run: async ({ app }) => {
      const active = (await app.get(OperatorKeys).list()).filter(({ revokedAt }) => revokedAt === null);
      await app.get(OperatorKeys).revoke(active.at(-1)?.id ?? '');
    },
  },
];

/** They change nothing that the audit log is about, have a test of their own, or act for services in the table only. */
const ELSEWHERE: readonly Type[] = [OperatorRequests, OutboxEntries, AccountPreparation, OneTimeLinks];
/** With these, services change what the audit log is about. */
const WRITERS: readonly unknown[] = [AtomicStatements, OneTimeLinks];

describe.each(await testEngines())('the services on $name', (engine) => {
  const suite = accountsSuite(engine);
  let subjects = 0;

  const subjectOf = async (change: Change): Promise<Subject> => {
    const email = `subject-${subjects++}@example.com`;
    const { id: accountId } = await suite.get(AccountsService).create({ email, password: PASSWORD });
    const { id: keyId, key } = await suite.get(ApiKeysService).create(accountId, { name: 'first' });
    const { sessionId } = await suite.get(SessionsService).create(accountId);
    const subject = { app: suite.app, email, accountId, keyId, key, sessionId };
    await change.before?.(subject);
    return subject;
  };
  const latest = async () => (await suite.get(AuditLog).page({}, undefined, 20)).entries;

  it('are all in the table', () => {
    const changing = [...suite.get(ModulesContainer).values()]
      .flatMap(({ providers }) => [...providers.values()].map(({ metatype }) => metatype))
      .filter((type): type is Type => typeof type === 'function')
      .filter((type) => {
        const parameters = Reflect.getMetadata('design:paramtypes', type) as readonly unknown[] | undefined;
        return parameters?.some((type) => WRITERS.includes(type)) === true && type.name !== 'WebhookOutbox';
      });
    const covered = new Set<Type>([...CHANGES.map(({ of }) => of), ...ELSEWHERE]);
    expect(changing.length).toBeGreaterThan(10);
    expect(changing.filter((type) => !covered.has(type))).toEqual([]);
  });

  it.each(CHANGES.map((change) => ({ name: `${change.of.name}.${change.method}`, change })))(
    '$name changes nothing if its entry cannot be written, and otherwise writes its entries',
    async ({ change }) => {
      const subject = await subjectOf(change);
      const rows = await auditedRows(suite.get(DataSource));
      const repair = await failAuditLog(suite.get(DataSource));
      try {
        await expect(change.run(subject)).rejects.toThrow();
      } finally {
        await repair();
      }
      expect(await auditedRows(suite.get(DataSource))).toEqual(rows);

      const before = (await latest())[0]?.id;
      await change.run(subject);
      const entries = await latest();
      const added = entries.slice(
        0,
        entries.findIndex(({ id }) => id === before),
      );
      expect(added.map(({ action }) => action).toSorted()).toEqual(change.actions.toSorted());
    },
  );
});
