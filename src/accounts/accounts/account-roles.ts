import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
import { ServiceError } from '../../platform/common/service-error.js';
import {
  AtomicStatements,
  type ChangeAuthor,
  type Statement,
} from '../../platform/database/queries/atomic-statements.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { Session } from '../sessions/session.entity.js';
import { Account, ACCOUNT_ROLES } from '../account/account.entity.js';
import {
  heldMaker,
  makerIn,
  operatorEnded,
  OperatorTree,
  type CascadeOptions,
} from '../operator-keys/operator-tree.js';
import { AccountsService, type AccountReference } from './accounts.service.js';

/** Gives roles to accounts. Sessions of other processes notice a new role within a second. */
@Injectable()
export class AccountRoles {
  constructor(
    @InjectRepository(Account) private readonly repository: Repository<Account>,
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly accounts: AccountsService,
    private readonly database: AtomicStatements,
    private readonly tree: OperatorTree,
  ) {}

  /**
   * Gives a role to an account. An account that becomes a member loses the access of operators that it has made, too.
   *
   * @throws {ServiceError} `invalid_request` for an unknown role, `not_found` for an unknown account; `forbidden`
   * if the author is no operator any longer.
   */
  async set(
    reference: AccountReference,
    name: string,
    author?: ChangeAuthor,
    cascade: CascadeOptions = {},
  ): Promise<Account> {
    const role = ACCOUNT_ROLES.find((known) => known === name);
    if (role === undefined) {
      const message = `There is no role "${name}". The roles are: ${ACCOUNT_ROLES.join(', ')}.`;
      throw new ServiceError('invalid_request', message, { details: [{ field: 'role', message }] });
    }
    const account = await this.accounts.get(reference);
    const { id } = account;
    const maker = makerIn(author);
    const { locks, condition } = heldMaker(maker);
    const changes =
      role === 'operator'
        ? [...locks, makeOperator(id, maker, condition)]
        : [makeMember(id), ...this.tree.endings(id, author, cascade)];
    const rows = await this.database.change({ table: 'accounts', id }, changes, author);
    await this.tree.ended(rows);
    if (locks.length > 0 && role === 'operator' && rows.at(-1)?.length !== 1) throw operatorEnded();
    return this.repository.merge(account, { role });
  }

  /** Whether the session exists and its account is an active operator. Always queries the database. */
  async isOperator(sessionId: string): Promise<boolean> {
    const where = { id: sessionId, account: { role: 'operator', disabledAt: IsNull() } } as const;
    return orUnavailable(this.sessions.existsBy(where));
  }
}

function makeOperator(id: string, maker: string | null, condition: string): Statement {
  return {
    sql: `UPDATE accounts SET role = 'operator', operator_by = CASE WHEN role = 'operator' THEN operator_by ELSE :maker END
      WHERE id = :id AND ${condition} RETURNING id`,
    parameters: { id, maker },
  };
}

function makeMember(id: string): Statement {
  return {
    sql: `UPDATE accounts SET role = 'member', operator_by = NULL WHERE id = :id RETURNING id`,
    parameters: { id },
  };
}
