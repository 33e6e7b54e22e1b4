import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { ShedLoad } from '../../platform/common/shed-load.js';
import { CONFIG, type Config, type TierConfig } from '../../platform/config/config.js';
import { CredentialDatabase } from '../../platform/database/credential-database.js';
import { DatabaseAvailability } from '../../platform/database/database-availability.js';
import { tierNamed } from '../account/account.entity.js';
import { AccountChanges } from '../credentials/account-changes.js';
import { CredentialCache, type StoredCredential } from '../credentials/credential-cache.js';
import { API_KEY_FORMAT, hashSecret } from '../credentials/secrets.js';
import { ApiKey, KEY_LIMIT_NAMES } from './api-key.entity.js';
import { KeyRestrictions } from './key-limits.js';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { UseRecorder } from '../credentials/use-recorder.js';

/** A valid key and the account that owns it. */
interface VerifiedKey {
  readonly keyId: string;
  readonly prefix: string;
  readonly name: string;
  /** The limits of the key. `undefined`: the key has none of its own. */
  readonly restrictions?: KeyRestrictions | undefined;
  readonly expiresAt: Date | null;
  /** The position of {@link AccountChanges} before the key was read. */
  readonly readAt: number;
  readonly account: {
    readonly id: string;
    readonly email: string;
    readonly tier: TierConfig;
  };
}

/** Why a known key is refused. */
type KeyRefusal = 'key_revoked' | 'key_expired' | 'account_disabled' | 'address_not_allowed';

/** A known key that is refused. For operators: the caller must not learn the reason. */
export interface RefusedKey extends Pick<VerifiedKey, 'keyId' | 'prefix'> {
  readonly accountId: string;
  readonly reason: KeyRefusal;
}

interface KnownKey extends StoredCredential {
  readonly verified: VerifiedKey;
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
    private readonly changes: AccountChanges,
    availability: DatabaseAvailability,
    shedLoad: ShedLoad,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    const lookUp = (hashedKeys: readonly string[]) => this.lookUp(hashedKeys);
    this.lookups = new CredentialCache({ what: 'API keys', lookUp, changes, availability, shedLoad, now });
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
    if (!API_KEY_FORMAT.isWellFormed(key)) return undefined;
    const known = await this.lookups.get(hashSecret(key), networkOf);
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

  private async lookUp(hashedKeys: readonly string[]): Promise<ReadonlyMap<string, KnownKey>> {
    const { position } = this.changes;
    const rows = await this.database
      .repository(ApiKey)
      .createQueryBuilder('key')
      .innerJoin('key.account', 'account')
      .select(['key.id', 'key.hashedKey', 'key.prefix', 'key.name', 'key.expiresAt', 'key.revokedAt', 'key.originId'])
      .addSelect(KEY_LIMIT_NAMES.map((name) => `key.${name}`))
      .addSelect(['account.id', 'account.email', 'account.tier', 'account.disabledAt'])
      .where('key.hashedKey IN (:...hashedKeys)', { hashedKeys })
      .getMany();
    return new Map(rows.map((row) => [row.hashedKey, this.knownKey(row, position)]));
  }

  private knownKey(key: ApiKey, readAt: number): KnownKey {
    const { id, prefix, name, expiresAt, revokedAt, account } = key;
    const { config } = this;
    const restrictions = KeyRestrictions.of(key);
    return {
      accountId: account.id,
      readAt,
      verified: {
        keyId: id,
        prefix,
        name,
        restrictions,
        expiresAt,
        readAt,
        account: {
          id: account.id,
          email: account.email,
          get tier() {
            return tierNamed(config, account.tier);
          },
        },
      },
      refusal: revokedAt !== null ? 'key_revoked' : account.disabledAt === null ? undefined : 'account_disabled',
    };
  }

  private refusalOf({ verified: { expiresAt }, refusal }: KnownKey): KeyRefusal | undefined {
    if (refusal !== undefined) return refusal;
    return expiresAt !== null && expiresAt.getTime() <= this.now() ? 'key_expired' : undefined;
  }
}

/** Writes `lastUsedAt` of API keys. */
@Injectable()
export class LastUsedRecorder extends UseRecorder<ApiKey> {
  constructor(@InjectRepository(ApiKey) keys: Repository<ApiKey>, @Inject(CLOCK) now: Clock) {
    super(keys, 'lastUsedAt', now);
  }
}
