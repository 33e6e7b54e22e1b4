import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
import { ServiceError } from '../../common/service-error.js';
import { AtomicStatements, type ChangeAuthor } from '../../database/queries/atomic-statements.js';
import { orUnavailable } from '../../database/queries/query-failure.js';
import { Session } from '../sessions/session.entity.js';
import { Account } from '../account/account.entity.js';
import { ACCOUNT_ROLES } from '../account/account-role.js';
import { AccountsService, type AccountReference } from './accounts.service.js';

/** Gives roles to accounts. Sessions of other processes notice a new role within a second. */
@Injectable()
export class AccountRoles {
  constructor(
    @InjectRepository(Account) private readonly repository: Repository<Account>,
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly accounts: AccountsService,
    private readonly database: AtomicStatements,
  ) {}

  /** @throws {ServiceError} `invalid_request` for an unknown role, `not_found` for an unknown account. */
  async set(reference: AccountReference, name: string, author?: ChangeAuthor): Promise<Account> {
    const role = ACCOUNT_ROLES.find((known) => known === name);
    if (role === undefined) {
      const message = `There is no role "${name}". The roles are: ${ACCOUNT_ROLES.join(', ')}.`;
      throw new ServiceError('invalid_request', message, { details: [{ field: 'role', message }] });
    }
    const account = await this.accounts.get(reference);
    const { id } = account;
    const change = { sql: 'UPDATE accounts SET role = :role WHERE id = :id RETURNING id', parameters: { id, role } };
    await this.database.change({ table: 'accounts', id }, change, author);
    return this.repository.merge(account, { role });
  }

  /** Whether the session exists and its account is an active operator. Always queries the database. */
  async isOperator(sessionId: string): Promise<boolean> {
    const where = { id: sessionId, account: { role: 'operator', disabledAt: IsNull() } } as const;
    return orUnavailable(this.sessions.existsBy(where));
  }
}
