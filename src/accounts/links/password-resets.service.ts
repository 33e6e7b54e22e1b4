import { Injectable } from '@nestjs/common';
import { DAY_MS } from '../../platform/common/clock.js';
import type { ChangeAuthor } from '../../platform/database/queries/atomic-statements.js';
import type { Account } from '../account/account.entity.js';
import { OneTimeLinks, PasswordReset, type NewLink } from './one-time-links.js';

/**
 * Creates links with which a user sets a new password. Each change of the password ends the link of the account, see
 * `PasswordReplacement`.
 */
@Injectable()
export class PasswordResets {
  constructor(private readonly links: OneTimeLinks) {}

  /**
   * Creates a link, which replaces an earlier link of the account. It is valid for 24 hours.
   *
   * @param createdBy the id of the operator, or of its key.
   * @param author by default the account `createdBy`.
   */
  async create(accountId: string, createdBy: string, author?: ChangeAuthor): Promise<NewLink> {
    const columns = { kind: 'password_reset', account_id: accountId };
    const options = { createdBy, validMs: DAY_MS, author };
    return this.links.create({ table: 'accounts', id: accountId }, 'account_id', columns, options);
  }

  /** Returns until when the link of the account is valid. `undefined`: the account has no valid link. */
  async validUntil(accountId: string): Promise<Date | undefined> {
    const [reset] = await this.links.valid(PasswordReset, { account: { id: accountId } });
    return reset?.expiresAt;
  }

  /** Revokes the link of the account, if it has one. */
  async revoke(accountId: string, author?: ChangeAuthor): Promise<void> {
    await this.links.delete({ table: 'accounts', id: accountId }, 'account_id = :id', author);
  }

  /** Returns the account of this token. `undefined`: the link is unknown, used, revoked or expired, or the account is disabled. */
  async find(token: string): Promise<Account | undefined> {
    // One query for both. Otherwise another visitor could use the link between two queries, and this one would get the account with
    // the new password, and could replace that again.
    const reset = await this.links.find(PasswordReset, token);
    return reset?.account.disabledAt === null ? reset.account : undefined;
  }
}
