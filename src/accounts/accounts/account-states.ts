import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import {
  AtomicStatements,
  type ChangeAuthor,
  type Statement,
} from '../../platform/database/queries/atomic-statements.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { AccountChanges } from '../credentials/account-changes.js';
import { Account } from '../account/account.entity.js';
import { OperatorTree, type CascadeOptions } from '../operator-keys/operator-tree.js';
import { AccountsService, type AccountReference } from './accounts.service.js';

/** A disabled account cannot sign in, and its keys are refused. */
export type AccountState = 'active' | 'disabled' | 'deleted';

export interface AccountWithState {
  readonly account: Account;
  readonly state: AccountState;
}

/** The state of an account that exists. */
export function stateOf({ disabledAt }: Pick<Account, 'disabledAt'>): 'active' | 'disabled' {
  return disabledAt === null ? 'active' : 'disabled';
}

const ACCOUNTS_PER_PAGE = 500;

/** Disables, enables, deletes and lists accounts, for the operator. */
@Injectable()
export class AccountStates {
  constructor(
    @InjectRepository(Account) private readonly repository: Repository<Account>,
    private readonly accounts: AccountsService,
    private readonly database: AtomicStatements,
    private readonly changes: AccountChanges,
    private readonly tree: OperatorTree,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Disables an account: ends its sessions, its open streams and its link for a new password, and refuses its keys until the account
   * is enabled. Also ends the access of operators that the account has made. Takes effect on every replica within two seconds. Disabling a disabled account again changes nothing.
   *
   * @throws {ServiceError} `not_found` for an unknown account.
   */
  async disable(
    reference: AccountReference,
    author?: ChangeAuthor,
    cascade: CascadeOptions = {},
  ): Promise<AccountWithState> {
    const account = await this.accounts.get(reference);
    const { id } = account;
    const now = new Date(this.now()).toISOString();
    await this.end(
      id,
      [
        statement('UPDATE accounts SET disabled_at = COALESCE(disabled_at, :now) WHERE id = :id RETURNING id', {
          id,
          now,
        }),
        // Otherwise it would work again when the account is enabled.
        statement('DELETE FROM one_time_links WHERE account_id = :id RETURNING id', { id }),
        ...this.tree.endings(id, author, cascade),
      ],
      author,
    );
    return { account, state: 'disabled' };
  }

  /**
   * Enables a disabled account. Its keys are accepted again, except keys that were revoked or have expired. Its sessions
   * stay ended.
   *
   * @throws {ServiceError} `not_found` for an unknown account.
   */
  async enable(reference: AccountReference, author?: ChangeAuthor): Promise<AccountWithState> {
    const account = await this.accounts.get(reference);
    const { id } = account;
    const change = statement('UPDATE accounts SET disabled_at = NULL WHERE id = :id RETURNING id', { id });
    await this.database.change({ table: 'accounts', id }, change, author);
    await this.changes.notice([id]);
    return { account, state: 'active' };
  }

  /**
   * Deletes an account with its keys and sessions, and ends its open streams on every replica within two seconds. Also ends the
   * access of operators that the account has made. The usage records keep the id of the account, and not its address.
   *
   * @throws {ServiceError} `not_found` for an unknown account.
   */
  async delete(
    reference: AccountReference,
    author?: ChangeAuthor,
    cascade: CascadeOptions = {},
  ): Promise<AccountWithState> {
    const account = await this.accounts.get(reference);
    const { id } = account;
    await this.end(
      id,
      [
        statement('DELETE FROM api_keys WHERE account_id = :id RETURNING id', { id }),
        ...this.tree.endings(id, author, cascade),
        statement('DELETE FROM accounts WHERE id = :id RETURNING id', { id }),
      ],
      author,
    );
    return { account, state: 'deleted' };
  }

  /** Returns all accounts in pages, ordered by address. */
  async *pages(): AsyncGenerator<readonly AccountWithState[], void> {
    let last = '';
    for (;;) {
      const accounts = await orUnavailable(
        this.repository.find({ where: { email: MoreThan(last) }, order: { email: 'ASC' }, take: ACCOUNTS_PER_PAGE }),
      );
      yield accounts.map((account) => ({ account, state: stateOf(account) }));
      last = accounts.at(-1)?.email ?? '';
      if (accounts.length < ACCOUNTS_PER_PAGE) return;
    }
  }

  /** Ends the sessions and refuses the keys in one step with `changes`. Other processes notice by themselves. */
  private async end(id: string, changes: readonly Statement[], author: ChangeAuthor | undefined): Promise<void> {
    const ended = await this.database.change(
      { table: 'accounts', id },
      [statement('DELETE FROM sessions WHERE account_id = :id RETURNING id', { id }), ...changes],
      author,
    );
    await this.changes.notice([id]);
    await this.tree.ended(ended);
  }
}

function statement(sql: string, parameters: Statement['parameters']): Statement {
  return { sql, parameters };
}
