import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../common/clock.js';
import { CONFIG, type Config, type TierConfig } from '../config/config.js';
import { orUnavailable } from '../database/query-failure.js';
import { hashApiKey, isWellFormedApiKey } from './api-key-format.js';
import { ApiKey } from './api-key.entity.js';
import { RecentLookups } from './recent-lookups.js';
import { RevocationWatch } from './revocation-watch.js';
import { tierNamed } from './tier.js';

/** Who holds a valid key. */
export interface VerifiedKey {
  readonly keyId: string;
  readonly prefix: string;
  readonly name: string;
  readonly account: {
    readonly id: string;
    readonly email: string;
    readonly tier: TierConfig;
  };
}

interface KnownKey {
  readonly verified: VerifiedKey;
  readonly expiresAt: Date | null;
  /** Known as such, it stays refused while the database is away. */
  readonly isRevoked: boolean;
}

/** Tells whose key it is; asked for every request. */
@Injectable()
export class ApiKeyVerifier implements OnModuleDestroy {
  private readonly lookups: RecentLookups<KnownKey>;

  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly revocations: RevocationWatch,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    this.lookups = new RecentLookups('API keys', (hashedKey) => this.lookUp(hashedKey), now);
  }

  /**
   * `undefined` for a key that is malformed, unknown, revoked or expired; which of them, nobody is told.
   *
   * @throws {ServiceError} `unavailable` when the database does not answer, as that says nothing about the key.
   */
  async verify(key: string): Promise<VerifiedKey | undefined> {
    if (!isWellFormedApiKey(key)) return undefined;
    const known = await this.lookups.get(hashApiKey(key));
    if (known === undefined || this.hasEnded(known)) return undefined;
    return known.verified;
  }

  /** Drops what is remembered of a key. */
  forget(hashedKey: string): void {
    this.lookups.forget(hashedKey);
  }

  onModuleDestroy(): void {
    this.lookups.stop();
  }

  private async lookUp(hashedKey: string): Promise<KnownKey | undefined> {
    const row = await orUnavailable(
      this.keys
        .createQueryBuilder('key')
        .innerJoin('key.account', 'account')
        .select(['key.id', 'key.prefix', 'key.name', 'key.expiresAt', 'key.revokedAt'])
        .addSelect(['account.id', 'account.email', 'account.tier'])
        .where('key.hashedKey = :hashedKey', { hashedKey })
        .getOne(),
    );
    if (row === null) return undefined;
    const { id, prefix, name, expiresAt, revokedAt, account } = row;
    const tier = tierNamed(this.config, account.tier);
    return {
      verified: { keyId: id, prefix, name, account: { id: account.id, email: account.email, tier } },
      expiresAt,
      isRevoked: revokedAt !== null,
    };
  }

  /** The watch of the open streams may know more than what is remembered. */
  private hasEnded({ verified, expiresAt, isRevoked }: KnownKey): boolean {
    if (isRevoked || this.revocations.hasEnded(verified.keyId)) return true;
    return expiresAt !== null && expiresAt.getTime() <= this.now();
  }
}
