import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ShedLoad } from '../../common/shed-load.js';
import { CONFIG, type Config, type TierConfig } from '../../config/config.js';
import { CredentialDatabase } from '../../database/credential-database.js';
import { DatabasePresence } from '../../database/database-presence.js';
import { tierNamed } from '../account/tier.js';
import { CredentialCache } from '../credentials/credential-cache.js';
import { hashApiKey, isWellFormedApiKey } from './api-key-format.js';
import { ApiKey } from './api-key.entity.js';
import { KEY_LIMIT_NAMES } from './limits/key-limits.js';
import { KeyRestrictions } from './limits/key-restrictions.js';
import { RevocationWatch } from './revocation-watch.js';

/** A valid key and the account that owns it. */
export interface VerifiedKey {
  readonly keyId: string;
  readonly prefix: string;
  readonly name: string;
  /** The limits of the key. `undefined`: the key has none of its own. */
  readonly restrictions?: KeyRestrictions | undefined;
  readonly account: {
    readonly id: string;
    readonly email: string;
    readonly tier: TierConfig;
  };
}

/** Why a known key is refused. */
export type KeyRefusal = 'key_revoked' | 'key_expired' | 'account_disabled' | 'address_not_allowed';

/** A known key that is refused. For operators: the caller must not learn the reason. */
export interface RefusedKey extends Pick<VerifiedKey, 'keyId' | 'prefix'> {
  readonly accountId: string;
  readonly reason: KeyRefusal;
}

interface KnownKey {
  readonly verified: VerifiedKey;
  readonly expiresAt: Date | null;
  /** Set if the key is revoked or its account is disabled. Such a key stays refused while the database is unavailable. */
  readonly refusal: KeyRefusal | undefined;
}

/** Describes a known key that is refused. */
export function refusedKey({ keyId, prefix, account }: VerifiedKey, reason: KeyRefusal): RefusedKey {
  return { keyId, prefix, accountId: account.id, reason };
}

/** Verifies API keys. Called for every request that has an API key. */
@Injectable()
export class ApiKeyVerifier {
  private readonly lookups: CredentialCache<KnownKey>;

  constructor(
    private readonly database: CredentialDatabase,
    private readonly revocations: RevocationWatch,
    presence: DatabasePresence,
    shedLoad: ShedLoad,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    const lookUp = (hashedKeys: readonly string[]) => this.lookUp(hashedKeys);
    this.lookups = new CredentialCache({ what: 'API keys', lookUp, presence, shedLoad, now });
  }

  /**
   * Finds the account that owns the key.
   *
   * @param networkOf returns the network of the caller. Unknown keys count against this network.
   * @param onRefused called with a known key that is refused.
   * @returns `undefined` for a key that is malformed, unknown, revoked or expired, or whose account is disabled. The result does not disclose which.
   * @throws {ServiceError} `unavailable` when the key cannot be looked up now, which says nothing about the key;
   * `rate_limit_exceeded` for a new key from a network that sends too many unknown keys.
   */
  async verify(
    key: string,
    networkOf?: () => string,
    onRefused?: (key: RefusedKey) => void,
  ): Promise<VerifiedKey | undefined> {
    if (!isWellFormedApiKey(key)) return undefined;
    const known = await this.lookups.get(hashApiKey(key), networkOf);
    if (known === undefined) return undefined;
    const refusal = this.refusalOf(known);
    if (refusal === undefined) return known.verified;
    onRefused?.(refusedKey(known.verified, refusal));
    return undefined;
  }

  /** Records that this process has created a key, so that the first use does not count as an unknown key. */
  expect(hashedKey: string): void {
    this.lookups.expect(hashedKey);
  }

  /** Removes a key from the cache. */
  invalidate(hashedKey: string): void {
    this.lookups.invalidate(hashedKey);
  }

  private async lookUp(hashedKeys: readonly string[]): Promise<ReadonlyMap<string, KnownKey>> {
    const queriedAt = performance.now();
    const rows = await this.database
      .repository(ApiKey)
      .createQueryBuilder('key')
      .innerJoin('key.account', 'account')
      .select(['key.id', 'key.hashedKey', 'key.prefix', 'key.name', 'key.expiresAt', 'key.revokedAt', 'key.originId'])
      .addSelect(KEY_LIMIT_NAMES.map((name) => `key.${name}`))
      .addSelect(['account.id', 'account.email', 'account.tier', 'account.disabledAt'])
      .where('key.hashedKey IN (:...hashedKeys)', { hashedKeys })
      .getMany();
    for (const { id, revokedAt, account } of rows) {
      if (revokedAt === null && account.disabledAt === null) this.revocations.confirm(id, queriedAt);
    }
    return new Map(rows.map((row) => [row.hashedKey, this.knownKey(row)]));
  }

  private knownKey(key: ApiKey): KnownKey {
    const { id, prefix, name, expiresAt, revokedAt, account } = key;
    const restrictions = KeyRestrictions.of(key);
    const tier = tierNamed(this.config, account.tier);
    return {
      verified: { keyId: id, prefix, name, restrictions, account: { id: account.id, email: account.email, tier } },
      expiresAt,
      refusal: revokedAt !== null ? 'key_revoked' : account.disabledAt === null ? undefined : 'account_disabled',
    };
  }

  /** Why the key is refused, if it is. The watch of open streams may know of a revocation before the cache does. */
  private refusalOf({ verified, expiresAt, refusal }: KnownKey): KeyRefusal | undefined {
    if (refusal !== undefined) return refusal;
    if (this.revocations.hasEnded(verified.keyId)) return 'key_revoked';
    return expiresAt !== null && expiresAt.getTime() <= this.now() ? 'key_expired' : undefined;
  }
}
