import { Column, Entity, Index, MoreThan, PrimaryColumn, Repository } from 'typeorm';
import { TimestampColumn } from '../../platform/database/queries/timestamp-column.js';
import { Account, type AccountRole } from '../account/account.entity.js';
import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { CLOCK, DAY_MS, type Clock } from '../../platform/common/clock.js';
import { ServiceError } from '../../platform/common/service-error.js';
import {
  AtomicStatements,
  type ChangeAuthor,
  type Statement,
} from '../../platform/database/queries/atomic-statements.js';
import { isUniqueViolation, orUnavailable } from '../../platform/database/queries/query-failure.js';
import { emailTaken } from '../accounts/account-details.js';
import { AccountsService, type PasswordWorkOptions } from '../accounts/accounts.service.js';
import { generateToken, hashSecret, isWellFormedToken } from '../credentials/secrets.js';

/** A link with which one person creates the account of this address. The row is deleted when the link is used or revoked. */
@Entity('invitations')
export class Invitation {
  @PrimaryColumn({ type: 'text' })
  readonly id!: string;

  /** The token itself is not stored. */
  @Column({ type: 'text', name: 'hashed_token', unique: true })
  readonly hashedToken!: string;

  @Column({ type: 'text', unique: true })
  readonly email!: string;

  @Column({ type: 'text' })
  readonly tier!: string;

  @Column({ type: 'text' })
  readonly role!: AccountRole;

  /** The id of the operator. */
  @Column({ type: 'text', name: 'created_by' })
  readonly createdBy!: string;

  @TimestampColumn({ name: 'created_at' })
  readonly createdAt!: Date;

  @Index('invitations_by_expiry')
  @TimestampColumn({ name: 'expires_at' })
  readonly expiresAt!: Date;
}

/** The number of open invitations of all operators. */
const MAX_OPEN = 1_000;

export interface NewInvitation {
  readonly email: string;
  readonly tier: string;
  readonly role: AccountRole;
  readonly validDays: number;
  /** The id of the operator, or of its key. */
  readonly createdBy: string;
}

/** A new link. Only this object has its token. */
export interface CreatedInvitation {
  readonly invitation: Invitation;
  readonly token: string;
}

/** Invites people to create an account by a link that works once. Also while sign-up is closed. */
@Injectable()
export class Invitations {
  constructor(
    @InjectRepository(Invitation) private readonly invitations: Repository<Invitation>,
    private readonly accounts: AccountsService,
    private readonly database: AtomicStatements,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Creates an invitation. It replaces an earlier invitation of the same address.
   *
   * @param author by default the account `createdBy`.
   * @throws {ServiceError} `invalid_request` with the invalid fields, when an account has the address, or when too many
   * invitations are open.
   */
  async create(
    { validDays, createdBy, role, ...account }: NewInvitation,
    author?: ChangeAuthor,
  ): Promise<CreatedInvitation> {
    const { email, tier } = await this.accounts.expectNew(account);
    await this.deleteExpired();
    if ((await orUnavailable(this.invitations.count())) >= MAX_OPEN) {
      throw new ServiceError('invalid_request', `There are ${MAX_OPEN} open invitations. Revoke some of them first.`);
    }
    const token = generateToken();
    const now = this.now();
    const invitation = this.invitations.create({
      id: randomUUID(),
      hashedToken: hashSecret(token),
      email,
      tier,
      role,
      createdBy,
      createdAt: new Date(now),
      expiresAt: new Date(now + validDays * DAY_MS),
    });
    await this.database.change({ table: 'invitations', id: invitation.id }, [upsertOf(invitation)], author);
    return { invitation, token };
  }

  /** Returns the invitations that are open. Those that expire soonest come first. */
  async list(): Promise<readonly Invitation[]> {
    return orUnavailable(
      this.invitations.find({
        where: { expiresAt: MoreThan(new Date(this.now())) },
        order: { expiresAt: 'ASC' },
        take: MAX_OPEN,
      }),
    );
  }

  /** Revokes an invitation. Returns the invitation, or `undefined` if it was used, has expired or does not exist. */
  async revoke(id: string, author?: ChangeAuthor): Promise<Invitation | undefined> {
    const invitation = await orUnavailable(this.invitations.findOneBy({ id }));
    if (invitation === null) return undefined;
    const change = { sql: 'DELETE FROM invitations WHERE id = :id RETURNING id', parameters: { id } };
    await this.database.change({ table: 'invitations', id }, change, author);
    return invitation;
  }

  /** Returns the invitation of this token. `undefined`: it is unknown, revoked, used or expired. The result does not disclose which. */
  async find(token: string): Promise<Invitation | undefined> {
    if (!isWellFormedToken(token)) return undefined;
    const where = { hashedToken: hashSecret(token), expiresAt: MoreThan(new Date(this.now())) };
    return (await orUnavailable(this.invitations.findOneBy(where))) ?? undefined;
  }

  /**
   * Creates the account of an invitation, and deletes the invitation in the same step.
   *
   * @returns `undefined` if the invitation was used or revoked meanwhile.
   * @throws {ServiceError} `invalid_request` when the password is not acceptable, or an account has the address.
   */
  async accept(
    { id, email, hashedToken }: Invitation,
    password: string,
    options: PasswordWorkOptions = {},
  ): Promise<Account | undefined> {
    const passwordHash = await this.accounts.hashNewPassword(email, password, options);
    const accountId = randomUUID();
    const now = new Date(this.now()).toISOString();
    try {
      await this.database.change(
        { table: 'invitations', id },
        [
          {
            sql: `INSERT INTO accounts (id, email, password_hash, tier, role, operator_by, created_at)
              SELECT :accountId, email, :passwordHash, tier, role,
                CASE WHEN role = 'operator' THEN created_by END, :now FROM invitations
              WHERE id = :id AND hashed_token = :hashedToken AND expires_at > :now RETURNING id`,
            parameters: { accountId, passwordHash, now, id, hashedToken },
          },
          {
            sql: 'DELETE FROM invitations WHERE id = :id AND hashed_token = :hashedToken RETURNING id',
            parameters: { id, hashedToken },
          },
        ],
        { actor: `account:${accountId}`, source: options.source },
      );
    } catch (error) {
      if (isUniqueViolation(error)) throw emailTaken();
      throw error;
    }
    return this.accounts.findById(accountId);
  }

  private async deleteExpired(): Promise<void> {
    await orUnavailable(
      this.invitations
        .createQueryBuilder()
        .delete()
        .where('expires_at <= :now', { now: new Date(this.now()).toISOString() })
        .execute(),
    );
  }
}

function upsertOf(invitation: Invitation): Statement {
  const { id, hashedToken, email, tier, role, createdBy, createdAt, expiresAt } = invitation;
  return {
    sql: `INSERT INTO invitations (id, hashed_token, email, tier, role, created_by, created_at, expires_at)
      VALUES (:id, :hashedToken, :email, :tier, :role, :createdBy, :createdAt, :expiresAt)
      ON CONFLICT (email) DO UPDATE SET id = excluded.id, hashed_token = excluded.hashed_token, tier = excluded.tier,
        role = excluded.role, created_by = excluded.created_by, created_at = excluded.created_at,
        expires_at = excluded.expires_at
      RETURNING id`,
    parameters: {
      ...{ id, hashedToken, email, tier, role, createdBy },
      ...{ createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() },
    },
  };
}
