import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, type SelectQueryBuilder } from 'typeorm';
import { orUnavailable } from '../../database/queries/query-failure.js';
import { Account } from './account.entity.js';
import { normalizeEmail } from './email.js';

/** An account as an operator sees it. */
export type ListedAccount = Pick<Account, 'id' | 'email' | 'tier' | 'role' | 'disabledAt' | 'createdAt'>;

/** Which accounts a list has. A member that is `undefined` does not restrict the list. */
export interface AccountFilter {
  /** A part of the address, or a whole id. */
  readonly search?: string | undefined;
  readonly state?: 'active' | 'disabled' | undefined;
  readonly tier?: string | undefined;
}

const LISTED = ['id', 'email', 'tier', 'role', 'disabledAt', 'createdAt'].map((name) => `account.${name}`);

/** Finds accounts for operators. */
@Injectable()
export class AccountDirectory {
  constructor(@InjectRepository(Account) private readonly accounts: Repository<Account>) {}

  /** Returns one page of the accounts, newest first. */
  async page(filter: AccountFilter, offset: number, limit: number): Promise<readonly ListedAccount[]> {
    const query = this.chosen(filter).select(LISTED);
    return orUnavailable(
      query.orderBy('account.createdAt', 'DESC').addOrderBy('account.id', 'DESC').offset(offset).limit(limit).getMany(),
    );
  }

  async count(filter: AccountFilter): Promise<number> {
    return orUnavailable(this.chosen(filter).getCount());
  }

  /** Returns the number of accounts by the name of the tier, also of tiers that the configuration no longer has. */
  async countByTier(): Promise<ReadonlyMap<string, number>> {
    const query = this.accounts
      .createQueryBuilder('account')
      .select('account.tier', 'tier')
      .addSelect('COUNT(*)', 'count')
      .groupBy('account.tier')
      .orderBy('account.tier');
    const rows = await orUnavailable(query.getRawMany<{ tier: string; count: string | number }>());
    return new Map(rows.map(({ tier, count }) => [tier, Number(count)]));
  }

  private chosen({ search = '', state, tier }: AccountFilter): SelectQueryBuilder<Account> {
    const query = this.accounts.createQueryBuilder('account');
    if (state !== undefined) query.andWhere(`account.disabledAt IS ${state === 'active' ? '' : 'NOT'} NULL`);
    if (tier !== undefined) query.andWhere('account.tier = :tier', { tier });
    if (search === '') return query;
    const text = normalizeEmail(search);
    const pattern = `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
    return query.andWhere(`(account.email LIKE :pattern ESCAPE '\\' OR account.id = :text)`, { pattern, text });
  }
}
