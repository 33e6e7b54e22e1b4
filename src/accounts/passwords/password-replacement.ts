import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../common/clock.js';
import { AtomicStatements, type ChangeAuthor, type Statement } from '../../database/queries/atomic-statements.js';
import type { Account } from '../account/account.entity.js';
import { ACTIVE } from '../api-keys/api-key-statements.js';
import { EndedCredentials } from '../ended/ended-credentials.js';

const HAS_PASSWORD = 'EXISTS (SELECT id FROM accounts WHERE id = :accountId AND password_hash = :next)';

/** Replaces the password of an account. */
@Injectable()
export class PasswordReplacement {
  constructor(
    private readonly database: AtomicStatements,
    private readonly ended: EndedCredentials,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Replaces the password hash, ends all sessions and the reset link of the account, and optionally revokes its active API keys. Either all of
   * this happens or nothing.
   *
   * @param next the hash of the new password.
   * @returns the number of revoked keys, or `undefined` when the password was changed meanwhile.
   */
  async replace(
    { id, passwordHash }: Account,
    next: string,
    andRevokeKeys: boolean,
    author?: ChangeAuthor,
  ): Promise<number | undefined> {
    const now = new Date(this.now()).toISOString();
    const [replaced, ended = [], , revoked = []] = await this.database.change(
      { table: 'accounts', id },
      [
        replaceHash(id, passwordHash, next),
        endSessions(id, next),
        endResetLink(id, next),
        ...(andRevokeKeys ? [revokeKeys(id, next, now)] : []),
      ],
      author,
    );
    if (replaced?.length !== 1) return undefined;
    this.ended.invalidate(ended, revoked);
    return revoked.length;
  }
}

function replaceHash(accountId: string, current: string, next: string): Statement {
  return {
    sql: 'UPDATE accounts SET password_hash = :next WHERE id = :accountId AND password_hash = :current RETURNING id',
    parameters: { accountId, current, next },
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
    sql: `DELETE FROM password_resets WHERE account_id = :accountId AND ${HAS_PASSWORD} RETURNING account_id`,
    parameters: { accountId, next },
  };
}

function revokeKeys(accountId: string, next: string, now: string): Statement {
  return {
    sql: `UPDATE api_keys SET revoked_at = :now WHERE ${ACTIVE} AND ${HAS_PASSWORD} RETURNING id, hashed_key`,
    parameters: { accountId, next, now },
  };
}
