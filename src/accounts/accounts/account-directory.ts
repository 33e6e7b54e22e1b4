import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  countByTime,
  pageByTime,
  type Condition,
  type TimePosition,
} from '../../platform/database/queries/page-by-time.js';
import { normalizeEmail, type Account } from '../account/account.entity.js';

/** An account as an operator sees it. */
export type ListedAccount = Pick<Account, 'id' | 'email' | 'tier' | 'role' | 'operatorBy' | 'disabledAt' | 'createdAt'>;

/** Which accounts a list has. A member that is `undefined` does not restrict the list. */
interface AccountFilter {
  /** The whole address. */
  readonly email?: string | undefined;
  /** A part of the address, or a whole id. */
  readonly search?: string | undefined;
  readonly state?: 'active' | 'disabled' | undefined;
  readonly tier?: string | undefined;
}

/** The position of an account in the list: the time of its creation, and its id. */
export type AccountPosition = TimePosition;

export interface AccountPage {
  /** The newest first. */
  readonly accounts: readonly ListedAccount[];
  /** The position after which the next page begins. `undefined`: this is the last page. */
  readonly next: AccountPosition | undefined;
}

type AccountRow = Pick<Account, 'id' | 'email' | 'tier' | 'role'> & {
  readonly disabled_at: string | null;
  readonly created_at: string;
  readonly operator_by: string | null;
};

const ACCOUNTS = { table: 'accounts', timeColumn: 'created_at', scope: [] } as const;

/** Finds accounts for operators. */
@Injectable()
export class AccountDirectory {
  constructor(private readonly database: DataSource) {}

  /**
   * Returns one page of the accounts. If few accounts pass the filter, a page can have fewer accounts than `limit`, and even
   * none, although there is a next page: see {@link pageByTime}.
   *
   * @param after `undefined`: the page begins with the newest account.
   */
  async page(filter: AccountFilter, after: AccountPosition | undefined, limit: number): Promise<AccountPage> {
    const list = {
      ...ACCOUNTS,
      columns: 'id, email, tier, role, operator_by, disabled_at, created_at',
      filter: conditionsOf(filter),
    };
    const { rows, next } = await pageByTime<AccountRow>(this.database, list, after, limit);
    return { accounts: rows.map(listedAccountOf), next };
  }

  /** Returns the number of accounts by the name of the tier, also of tiers that the configuration no longer has. */
  async countByTier(): Promise<ReadonlyMap<string, number>> {
    const counts = await countByTime(this.database, { ...ACCOUNTS, filter: [] }, 'tier');
    return new Map([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
  }
}

function conditionsOf({ email, search = '', state, tier }: AccountFilter): readonly Condition[] {
  const conditions: Condition[] = [];
  if (email !== undefined) conditions.push((mark) => `email = ${mark(normalizeEmail(email))}`);
  if (state !== undefined) conditions.push(() => `disabled_at IS ${state === 'active' ? '' : 'NOT '}NULL`);
  if (tier !== undefined) conditions.push((mark) => `tier = ${mark(tier)}`);
  if (search === '') return conditions;
  const text = normalizeEmail(search);
  const pattern = `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return [...conditions, (mark) => `(email LIKE ${mark(pattern)} ESCAPE '\\' OR id = ${mark(text)})`];
}

function listedAccountOf({
  disabled_at: disabledAt,
  created_at: createdAt,
  operator_by: operatorBy,
  ...account
}: AccountRow): ListedAccount {
  return {
    ...account,
    operatorBy,
    disabledAt: disabledAt === null ? null : new Date(disabledAt),
    createdAt: new Date(createdAt),
  };
}
