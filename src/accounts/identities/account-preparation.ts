import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../common/clock.js';
import { AtomicStatements, type ChangeAuthor } from '../../database/queries/atomic-statements.js';
import type { Account } from '../account/account.entity.js';
import { AccountsService, type AccountReference } from '../accounts/accounts.service.js';
import { EndedCredentials } from '../ended/ended-credentials.js';
import { revokeActiveKeys } from '../api-keys/api-key-statements.js';
import { prepareAccount } from './identity-statements.js';

export interface PreparedAccount {
  readonly account: Account;
  /** How many API keys were revoked. */
  readonly revokedKeys: number;
}

/** Prepares accounts for single sign-on, for the operator. */
@Injectable()
export class AccountPreparation {
  constructor(
    private readonly accounts: AccountsService,
    private readonly database: AtomicStatements,
    private readonly ended: EndedCredentials,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Removes the password, the reset link and the identities of an account, and ends its sessions. The next person whom the issuer signs in with
   * this verified address gets the account.
   *
   * @param revokeKeys whether all active API keys of the account are revoked, too.
   * @throws {ServiceError} `not_found` for an unknown account.
   */
  async prepare(reference: AccountReference, revokeKeys = false, author?: ChangeAuthor): Promise<PreparedAccount> {
    const account = await this.accounts.get(reference);
    const { id } = account;
    const now = new Date(this.now()).toISOString();
    const [, , , sessions = [], keys = []] = await this.database.change(
      { table: 'accounts', id },
      [...prepareAccount(id), ...(revokeKeys ? [revokeActiveKeys({ accountId: id, now })] : [])],
      author,
    );
    this.ended.invalidate(sessions, keys);
    return { account, revokedKeys: keys.length };
  }
}
