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
    { revokeKeys = false, hashedLinkToken }: ReplacementOptions,
    author?: ChangeAuthor,
  ): Promise<number | undefined> {
    const now = new Date(this.now()).toISOString();
    const ifReplaced = (change: string): Statement => ({
      sql: `${change} AND EXISTS (SELECT id FROM accounts WHERE id = :accountId AND password_hash = :next) RETURNING id`,
      parameters: { accountId: id, next, now },
    });
    const [replaced, , , revoked = []] = await this.database.change(
      { table: 'accounts', id },
      [
        replaceHash({ accountId: id, current: passwordHash, next, link: hashedLinkToken ?? null, now }),
        ifReplaced('DELETE FROM sessions WHERE account_id = :accountId'),
        ifReplaced('DELETE FROM one_time_links WHERE account_id = :accountId'),
        ...(revokeKeys ? [ifReplaced(`UPDATE api_keys SET revoked_at = :now WHERE ${ACTIVE}`)] : []),
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
