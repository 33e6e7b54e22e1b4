import { Column, Entity, JoinColumn, MoreThan, OneToOne, PrimaryColumn, Repository } from 'typeorm';
import { TimestampColumn } from '../../platform/database/queries/timestamp-column.js';
import { Account } from '../account/account.entity.js';
import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { CLOCK, DAY_MS, type Clock } from '../../platform/common/clock.js';
import { AtomicStatements, type ChangeAuthor } from '../../platform/database/queries/atomic-statements.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { generateToken, hashSecret, isWellFormedToken } from '../credentials/secrets.js';

/** A link with which a user sets a new password. Each change of the password deletes the row. */
@Entity('password_resets')
export class PasswordReset {
  /** An account has at most one link. */
  @PrimaryColumn({ type: 'text', name: 'account_id' })
  readonly accountId!: string;

  @OneToOne(() => Account, { onDelete: 'CASCADE', nullable: false })
  @JoinColumn({ name: 'account_id' })
  readonly account!: Account;

  /** The token itself is not stored. */
  @Column({ type: 'text', name: 'hashed_token', unique: true })
  readonly hashedToken!: string;

  /** The id of the operator. */
  @Column({ type: 'text', name: 'created_by' })
  readonly createdBy!: string;

  @TimestampColumn({ name: 'created_at' })
  readonly createdAt!: Date;

  @TimestampColumn({ name: 'expires_at' })
  readonly expiresAt!: Date;
}

const VALID_MS = DAY_MS;

/** A new link. Only this object has its token. */
interface CreatedReset {
  readonly token: string;
  readonly expiresAt: Date;
}

/**
 * Creates links with which a user sets a new password. Each change of the password ends the link of the account, see
 * `PasswordReplacement`.
 */
@Injectable()
export class PasswordResets {
  constructor(
    @InjectRepository(PasswordReset) private readonly resets: Repository<PasswordReset>,
    private readonly database: AtomicStatements,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Creates a link, which replaces an earlier link of the account. It is valid for 24 hours.
   *
   * @param createdBy the id of the operator, or of its key.
   * @param author by default the account `createdBy`.
   */
  async create(accountId: string, createdBy: string, author?: ChangeAuthor): Promise<CreatedReset> {
    const token = generateToken();
    const now = this.now();
    const expiresAt = new Date(now + VALID_MS);
    const change = {
      sql: `INSERT INTO password_resets (account_id, hashed_token, created_by, created_at, expires_at)
        VALUES (:accountId, :hashedToken, :createdBy, :now, :expiresAt)
        ON CONFLICT (account_id) DO UPDATE SET hashed_token = excluded.hashed_token, created_by = excluded.created_by,
          created_at = excluded.created_at, expires_at = excluded.expires_at
        RETURNING account_id`,
      parameters: {
        ...{ accountId, hashedToken: hashSecret(token), createdBy },
        ...{ now: new Date(now).toISOString(), expiresAt: expiresAt.toISOString() },
      },
    };
    await this.database.change({ table: 'accounts', id: accountId }, change, author);
    return { token, expiresAt };
  }

  /** Returns until when the link of the account is valid. `undefined`: the account has no valid link. */
  async validUntil(accountId: string): Promise<Date | undefined> {
    const reset = await orUnavailable(this.resets.findOneBy({ accountId, expiresAt: MoreThan(new Date(this.now())) }));
    return reset?.expiresAt;
  }

  /** Revokes the link of the account, if it has one. */
  async revoke(accountId: string, author?: ChangeAuthor): Promise<void> {
    const sql = 'DELETE FROM password_resets WHERE account_id = :accountId RETURNING account_id';
    const change = { sql, parameters: { accountId } };
    await this.database.change({ table: 'accounts', id: accountId }, change, author);
  }

  /** Returns the account of this token. `undefined`: the link is unknown, used, revoked or expired, or the account is disabled. */
  async find(token: string): Promise<Account | undefined> {
    if (!isWellFormedToken(token)) return undefined;
    const where = { hashedToken: hashSecret(token), expiresAt: MoreThan(new Date(this.now())) };
    // One query for both. Otherwise another visitor could use the link between two queries, and this one would get the account with
    // the new password, and could replace that again.
    const [reset] = await orUnavailable(this.resets.find({ where, relations: { account: true } }));
    return reset?.account.disabledAt === null ? reset.account : undefined;
  }
}
