import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../common/clock.js';
import { ServiceError, type ErrorDetail } from '../common/service-error.js';
import { CONFIG, type Config, type TierConfig } from '../config/config.js';
import { isUniqueViolation, orUnavailable } from '../database/query-failure.js';
import { Account } from './account.entity.js';
import { isEmail, normalizeEmail } from './email.js';
import { hashPassword, MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH, verifyPassword } from './password.js';
import { tierNamed } from './tier.js';

export interface NewAccount {
  readonly email: string;
  readonly password: string;
  /** By default the configured default tier. */
  readonly tier?: string | undefined;
}

/** Accounts: who they are and which tier they have. */
@Injectable()
export class AccountsService {
  constructor(
    @InjectRepository(Account) private readonly accounts: Repository<Account>,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** @throws {ServiceError} `invalid_request` with the wrong fields, also when the email is taken. */
  async create({ email, password, tier = this.config.defaultTier.name }: NewAccount): Promise<Account> {
    const normalized = normalizeEmail(email);
    const details = [...emailProblems(normalized), ...passwordProblems(password), ...this.tierProblems(tier)];
    if (details.length > 0) throw invalid(details);

    const account = this.accounts.create({
      id: randomUUID(),
      email: normalized,
      passwordHash: await hashPassword(password),
      tier,
      createdAt: new Date(this.now()),
    });
    try {
      await orUnavailable(this.accounts.insert(account));
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      throw invalid([{ field: 'email', message: 'An account with this email exists already.' }]);
    }
    return account;
  }

  async findByEmail(email: string): Promise<Account | undefined> {
    return (await orUnavailable(this.accounts.findOneBy({ email: normalizeEmail(email) }))) ?? undefined;
  }

  async findById(id: string): Promise<Account | undefined> {
    return (await orUnavailable(this.accounts.findOneBy({ id }))) ?? undefined;
  }

  /** Whether anybody has an account. */
  async hasAny(): Promise<boolean> {
    return orUnavailable(this.accounts.exists());
  }

  /** @throws {ServiceError} `invalid_request` for an unknown tier, `not_found` for an unknown account. */
  async setTier(email: string, tier: string): Promise<Account> {
    const details = this.tierProblems(tier);
    if (details.length > 0) throw invalid(details);
    await orUnavailable(this.accounts.update({ email: normalizeEmail(email) }, { tier }));
    const account = await this.findByEmail(email);
    if (account === undefined) throw new ServiceError('not_found', `There is no account "${normalizeEmail(email)}".`);
    return account;
  }

  /** The account, when the password is its own. Takes as long for an unknown address as for a wrong password. */
  async verifyPassword(email: string, password: string): Promise<Account | undefined> {
    const account = await this.findByEmail(email);
    const matches = await verifyPassword(account?.passwordHash, password);
    return matches ? account : undefined;
  }

  /** What the account may do. */
  tierOf(account: Pick<Account, 'tier'>): TierConfig {
    return tierNamed(this.config, account.tier);
  }

  private tierProblems(tier: string): ErrorDetail[] {
    if (this.config.tiers.has(tier)) return [];
    const known = [...this.config.tiers.keys()].join(', ');
    return [{ field: 'tier', message: `There is no tier "${tier}". The tiers are: ${known}.` }];
  }
}

function emailProblems(email: string): ErrorDetail[] {
  return isEmail(email) ? [] : [{ field: 'email', message: 'This is not an email address.' }];
}

function passwordProblems({ length }: string): ErrorDetail[] {
  if (length >= MIN_PASSWORD_LENGTH && length <= MAX_PASSWORD_LENGTH) return [];
  const message = `A password has ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`;
  return [{ field: 'password', message }];
}

function invalid(details: readonly ErrorDetail[]): ServiceError {
  return new ServiceError('invalid_request', 'The account cannot be kept like this.', { details });
}
