import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, DAY_MS, type Clock } from '../../platform/common/clock.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { AtomicStatements, type ChangeAuthor } from '../../platform/database/queries/atomic-statements.js';
import { isUniqueViolation } from '../../platform/database/queries/query-failure.js';
import type { Account, AccountRole } from '../account/account.entity.js';
import { emailTaken } from '../accounts/account-details.js';
import { AccountsService, type PasswordWorkOptions } from '../accounts/accounts.service.js';
import { Invitation, OneTimeLinks, type NewLink } from './one-time-links.js';

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

/** Invites people to create an account by a link that works once. Also while sign-up is closed. */
@Injectable()
export class Invitations {
  constructor(
    private readonly links: OneTimeLinks,
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
  ): Promise<Invitation & NewLink> {
    const { email, tier } = await this.accounts.expectNew(account);
    if ((await this.links.count(Invitation)) >= MAX_OPEN) {
      throw new ServiceError('invalid_request', `There are ${MAX_OPEN} open invitations. Revoke some of them first.`);
    }
    const columns = { kind: 'invitation', email, tier, role };
    const options = { createdBy, validMs: validDays * DAY_MS, author };
    const link = await this.links.create({ table: 'one_time_links', id: email }, 'email', columns, options);
    return { ...link, email, tier, role };
  }

  /** Returns the invitations that are open. Those that expire soonest come first. */
  async list(): Promise<readonly Invitation[]> {
    return (await this.links.valid(Invitation)).slice(0, MAX_OPEN);
  }

  /** Revokes an invitation. Returns whether there was one: it may be used, or have expired. */
  async revoke(id: string, author?: ChangeAuthor): Promise<boolean> {
    return this.links.delete({ table: 'one_time_links', id }, "id = :id AND kind = 'invitation'", author);
  }

  /** Returns the invitation of this token. `undefined`: it is unknown, revoked, used or expired. The result does not disclose which. */
  async find(token: string): Promise<Invitation | undefined> {
    return this.links.find(Invitation, token);
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
        { table: 'one_time_links', id },
        [
          {
            sql: `INSERT INTO accounts (id, email, password_hash, tier, role, operator_by, created_at)
              SELECT :accountId, email, :passwordHash, tier, role,
                CASE WHEN role = 'operator' THEN created_by END, :now FROM one_time_links
              WHERE id = :id AND hashed_token = :hashedToken AND expires_at > :now RETURNING id`,
            parameters: { accountId, passwordHash, now, id, hashedToken },
          },
          {
            sql: 'DELETE FROM one_time_links WHERE id = :id AND hashed_token = :hashedToken RETURNING id',
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
}
