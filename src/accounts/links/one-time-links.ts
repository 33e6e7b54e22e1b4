import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type Type } from '@nestjs/common';
import {
  ChildEntity,
  Column,
  DataSource,
  Entity,
  JoinColumn,
  LessThanOrEqual,
  MoreThan,
  OneToOne,
  PrimaryColumn,
  TableInheritance,
  type FindOptionsOrder,
  type FindOptionsWhere,
} from 'typeorm';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import {
  AtomicStatements,
  type ChangeAuthor,
  type LockedRow,
} from '../../platform/database/queries/atomic-statements.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { TimestampColumn } from '../../platform/database/queries/timestamp-column.js';
import { Account, type AccountRole } from '../account/account.entity.js';
import { generateToken, hashSecret, isWellFormedToken } from '../credentials/secrets.js';

/** A link of an operator. The row is deleted when the link is used or revoked. */
@Entity('one_time_links')
@TableInheritance({ column: { name: 'kind', type: 'text' } })
export class OneTimeLink {
  @PrimaryColumn({ type: 'text' })
  readonly id!: string;

  /** The token itself is not stored. */
  @Column({ type: 'text', name: 'hashed_token', unique: true })
  readonly hashedToken!: string;

  /** The id of the operator, or of its key. */
  @Column({ type: 'text', name: 'created_by' })
  readonly createdBy!: string;

  @TimestampColumn({ name: 'created_at' })
  readonly createdAt!: Date;

  @TimestampColumn({ name: 'expires_at' })
  readonly expiresAt!: Date;
}

/** A link with which one person creates the account of this address. */
@ChildEntity('invitation')
export class Invitation extends OneTimeLink {
  @Column({ type: 'text', unique: true })
  readonly email!: string;

  @Column({ type: 'text' })
  readonly tier!: string;

  @Column({ type: 'text' })
  readonly role!: AccountRole;
}

/** A link with which a user sets a new password. Each change of the password deletes the row. */
@ChildEntity('password_reset')
export class PasswordReset extends OneTimeLink {
  /** An account has at most one link. */
  @OneToOne(() => Account, { onDelete: 'CASCADE', eager: true })
  @JoinColumn({ name: 'account_id' })
  readonly account!: Account;
}

/** What all kinds of links have. */
interface LinkOptions {
  readonly createdBy: string;
  readonly validMs: number;
  readonly author: ChangeAuthor | undefined;
}

/** A new link. Only this object has its token. */
export interface NewLink extends OneTimeLink {
  readonly token: string;
}

/** Keeps the links that work once, with the hashes of their tokens. */
@Injectable()
export class OneTimeLinks {
  constructor(
    private readonly dataSource: DataSource,
    private readonly database: AtomicStatements,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Creates a link, and removes expired links.
   *
   * @param replaces the column that tells which earlier link ends: the link of the same address, or of the same account.
   * @param columns the columns that only this kind of link has.
   * @param author by default the account `createdBy`.
   */
  async create(
    row: LockedRow,
    replaces: 'email' | 'account_id',
    columns: Readonly<Record<string, string>>,
    { createdBy, validMs, author }: LinkOptions,
  ): Promise<NewLink> {
    const token = generateToken();
    const [createdAt, expiresAt] = [new Date(this.now()), new Date(this.now() + validMs)];
    const link = { id: randomUUID(), hashedToken: hashSecret(token), createdBy, createdAt, expiresAt };
    const parameters = {
      ...{ ...columns, id: link.id, hashed_token: link.hashedToken, created_by: createdBy },
      ...{ created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString() },
    };
    const names = Object.keys(parameters);
    const sql = `INSERT INTO one_time_links (${names.join(', ')}) VALUES (${names.map((name) => `:${name}`).join(', ')})
      ON CONFLICT (${replaces}) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')} RETURNING id`;
    await orUnavailable(this.dataSource.getRepository(OneTimeLink).delete({ expiresAt: LessThanOrEqual(createdAt) }));
    await this.database.change(row, { sql, parameters }, author);
    return { ...link, token };
  }

  /** Returns the links of a kind that are valid, in one query. Those that expire soonest come first. */
  async valid<Link extends OneTimeLink>(kind: Type<Link>, where: FindOptionsWhere<Link> = {}): Promise<Link[]> {
    const order = { expiresAt: 'ASC' } as FindOptionsOrder<Link>;
    const all = { ...where, expiresAt: MoreThan(new Date(this.now())) };
    return orUnavailable(this.dataSource.getRepository(kind).find({ where: all, order }));
  }

  /** Returns how many links of a kind are valid. */
  async count(kind: Type<OneTimeLink>): Promise<number> {
    return orUnavailable(this.dataSource.getRepository(kind).countBy({ expiresAt: MoreThan(new Date(this.now())) }));
  }

  /** Returns the link of this token. `undefined`: it is unknown, revoked, used or expired. The result does not disclose which. */
  async find<Link extends OneTimeLink>(kind: Type<Link>, token: string): Promise<Link | undefined> {
    if (!isWellFormedToken(token)) return undefined;
    return (await this.valid(kind, { hashedToken: hashSecret(token) } as FindOptionsWhere<Link>))[0];
  }

  /** Deletes a link. Returns whether there was one. */
  async delete(row: LockedRow, condition: string, author?: ChangeAuthor): Promise<boolean> {
    const sql = `DELETE FROM one_time_links WHERE ${condition} RETURNING id`;
    const [deleted = []] = await this.database.change(row, { sql, parameters: { id: row.id } }, author);
    return deleted.length > 0;
  }
}
