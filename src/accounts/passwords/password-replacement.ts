import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import {
  AtomicStatements,
  type ChangeAuthor,
  type Statement,
} from '../../platform/database/queries/atomic-statements.js';
import type { Account } from '../account/account.entity.js';
import { ACTIVE } from '../api-keys/api-key-statements.js';
import { AccountChanges } from '../credentials/account-changes.js';

const HAS_PASSWORD = 'EXISTS (SELECT id FROM accounts WHERE id = :accountId AND password_hash = :next)';

interface ReplacementOptions {
  readonly revokeKeys?: boolean | undefined;
  /** See `PasswordChangeOptions`. */
  readonly hashedLinkToken?: string | undefined;
}

/** Replaces the password of an account. */
@Injectable()
export class PasswordReplacement {
  constructor(
    private readonly database: AtomicStatements,
    private readonly changes: AccountChanges,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Replaces the password hash, ends all sessions and the reset link of the account, and optionally revokes its active API keys. Either all of
   * this happens or nothing.
   *
   * @param next the hash of the new password.
   * @returns the number of revoked keys, or `undefined` when the password was changed meanwhile, or the link is no longer valid.
   */
  async replace(
    { id, passwordHash }: Account,
    next: string,
    { revokeKeys: andRevokeKeys = false, hashedLinkToken }: ReplacementOptions,
    author?: ChangeAuthor,
  ): Promise<number | undefined> {
    const now = new Date(this.now()).toISOString();
    const [replaced, , , revoked = []] = await this.database.change(
      { table: 'accounts', id },
      [
        replaceHash({ accountId: id, current: passwordHash, next, link: hashedLinkToken ?? null, now }),
        endSessions(id, next),
        endResetLink(id, next),
        ...(andRevokeKeys ? [revokeKeys(id, next, now)] : []),
      ],
      author,
    );
    if (replaced?.length !== 1) return undefined;
    await this.changes.notice([id]);
    return revoked.length;
  }
}

function replaceHash(parameters: Statement['parameters']): Statement {
  return {
    sql: `UPDATE accounts SET password_hash = :next WHERE id = :accountId AND password_hash = :current
      AND (CAST(:link AS text) IS NULL OR (disabled_at IS NULL AND EXISTS (SELECT id FROM one_time_links
        WHERE account_id = :accountId AND hashed_token = :link AND expires_at > :now))) RETURNING id`,
    parameters,
  };
}

function endSessions(accountId: string, next: string): Statement {
  return {
    sql: `DELETE FROM sessions WHERE account_id = :accountId AND ${HAS_PASSWORD} RETURNING id`,
    parameters: { accountId, next },
  };
}

function endResetLink(accountId: string, next: string): Statement {
  return {
    sql: `DELETE FROM one_time_links WHERE account_id = :accountId AND ${HAS_PASSWORD} RETURNING id`,
    parameters: { accountId, next },
  };
}

function revokeKeys(accountId: string, next: string, now: string): Statement {
  return {
    sql: `UPDATE api_keys SET revoked_at = :now WHERE ${ACTIVE} AND ${HAS_PASSWORD} RETURNING id`,
    parameters: { accountId, next, now },
  };
}
