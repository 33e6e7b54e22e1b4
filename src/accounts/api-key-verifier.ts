import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../common/clock.js';
import { CONFIG, type Config, type TierConfig } from '../config/config.js';
import { orUnavailable } from '../database/query-failure.js';
import { hashApiKey, isWellFormedApiKey } from './api-key-format.js';
import { ApiKey } from './api-key.entity.js';
import { RecentMap } from './recent-map.js';
import { tierNamed } from './tier.js';

/** A revoked key is refused within a second everywhere, so what is remembered must be younger than that. */
const REMEMBERED_MS = 500;
const MAX_REMEMBERED = 10_000;

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
}

/** Tells whose key it is; asked for every request. */
@Injectable()
export class ApiKeyVerifier {
  private readonly remembered = new RecentMap<string, KnownKey>(MAX_REMEMBERED);
  private readonly pending = new Map<string, Promise<KnownKey | undefined>>();

  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * `undefined` for a key that is malformed, unknown, revoked or expired; which of them, nobody is told.
   *
   * @throws {ServiceError} `unavailable` when the database does not answer, as that says nothing about the key.
   */
  async verify(key: string): Promise<VerifiedKey | undefined> {
    if (!isWellFormedApiKey(key)) return undefined;
    const hashedKey = hashApiKey(key);
    const known = this.remembered.get(hashedKey, this.now() - REMEMBERED_MS) ?? (await this.lookUpOnce(hashedKey));
    if (known === undefined || this.hasExpired(known)) return undefined;
    return known.verified;
  }

  /** Drops what is remembered of a key. */
  forget(hashedKey: string): void {
    this.remembered.delete(hashedKey);
    this.pending.delete(hashedKey);
  }

  /** Requests with the same key that arrive together share one query. */
  private lookUpOnce(hashedKey: string): Promise<KnownKey | undefined> {
    const pending = this.pending.get(hashedKey);
    if (pending !== undefined) return pending;
    const askedAt = this.now();
    const lookup = this.lookUp(hashedKey)
      .then((known) => {
        // A lookup that was forgotten meanwhile may have read the row before it changed.
        const current = this.pending.get(hashedKey) === lookup;
        if (known !== undefined && current) this.remembered.set(hashedKey, known, askedAt);
        return known;
      })
      .finally(() => {
        if (this.pending.get(hashedKey) === lookup) this.pending.delete(hashedKey);
      });
    this.pending.set(hashedKey, lookup);
    return lookup;
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
    if (row === null || row.revokedAt !== null) return undefined;
    const { id, prefix, name, expiresAt, account } = row;
    const tier = tierNamed(this.config, account.tier);
    return {
      verified: { keyId: id, prefix, name, account: { id: account.id, email: account.email, tier } },
      expiresAt,
    };
  }

  private hasExpired({ expiresAt }: KnownKey): boolean {
    return expiresAt !== null && expiresAt.getTime() <= this.now();
  }
}
