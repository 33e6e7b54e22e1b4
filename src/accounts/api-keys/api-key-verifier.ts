import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ShedLoad } from '../../common/shed-load.js';
import { CONFIG, type Config, type TierConfig } from '../../config/config.js';
import { CredentialDatabase } from '../../database/credential-database.js';
import { DatabasePresence } from '../../database/database-presence.js';
import { tierNamed } from '../accounts/tier.js';
import { RecentLookups } from '../credentials/recent-lookups.js';
import { hashApiKey, isWellFormedApiKey } from './api-key-format.js';
import { ApiKey } from './api-key.entity.js';
import { RevocationWatch } from './revocation-watch.js';

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
export class ApiKeyVerifier {
  private readonly lookups: RecentLookups<KnownKey>;

  constructor(
    private readonly database: CredentialDatabase,
    private readonly revocations: RevocationWatch,
    presence: DatabasePresence,
    shedLoad: ShedLoad,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    const lookUp = (hashedKeys: readonly string[]) => this.lookUp(hashedKeys);
    this.lookups = new RecentLookups({ what: 'API keys', lookUp, presence, shedLoad, now });
  }

  /**
   * `undefined` for a key that is malformed, unknown, revoked or expired; which of them, nobody is told.
   *
   * @param networkOf tells the network of the caller, against which unknown keys count.
   * @throws {ServiceError} `unavailable` when it cannot be looked up now, which says nothing about the key;
   * `rate_limit_exceeded` for a new key from a network that shows too many unknown ones.
   */
  async verify(key: string, networkOf?: () => string): Promise<VerifiedKey | undefined> {
    if (!isWellFormedApiKey(key)) return undefined;
    const known = await this.lookups.get(hashApiKey(key), networkOf);
    if (known === undefined || this.hasEnded(known)) return undefined;
    return known.verified;
  }

  /** Says that a key was made in this process, so that its first use is not taken for an unknown key. */
  expect(hashedKey: string): void {
    this.lookups.expect(hashedKey);
  }

  /** Drops what is remembered of a key. */
  forget(hashedKey: string): void {
    this.lookups.forget(hashedKey);
  }

  private async lookUp(hashedKeys: readonly string[]): Promise<ReadonlyMap<string, KnownKey>> {
    const rows = await this.database
      .repository(ApiKey)
      .createQueryBuilder('key')
      .innerJoin('key.account', 'account')
      .select(['key.id', 'key.hashedKey', 'key.prefix', 'key.name', 'key.expiresAt', 'key.revokedAt'])
      .addSelect(['account.id', 'account.email', 'account.tier'])
      .where('key.hashedKey IN (:...hashedKeys)', { hashedKeys })
      .getMany();
    return new Map(rows.map((row) => [row.hashedKey, this.knownKey(row)]));
  }

  private knownKey({ id, prefix, name, expiresAt, revokedAt, account }: ApiKey): KnownKey {
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
