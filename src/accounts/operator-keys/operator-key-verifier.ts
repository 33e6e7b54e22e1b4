import { Inject, Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ShedLoad } from '../../common/shed-load.js';
import { CredentialDatabase } from '../../database/credential-database.js';
import { DatabasePresence } from '../../database/database-presence.js';
import { CredentialCache } from '../credentials/credential-cache.js';
import { hashKey, KeyFormat } from '../credentials/key-format.js';
import { OperatorKeyUse } from './operator-key-use.js';
import { OperatorKey } from './operator-key.entity.js';

/** An API key never has this form, because it has no `_` after its mark. */
export const OPERATOR_KEY_FORMAT = new KeyFormat('csk_op_');

export type VerifiedOperatorKey = Pick<OperatorKey, 'id' | 'scope'>;

/** Verifies operator keys. A revoked key is refused on every replica within a second. */
@Injectable()
export class OperatorKeyVerifier {
  private readonly lookups: CredentialCache<OperatorKey>;

  constructor(
    private readonly database: CredentialDatabase,
    private readonly uses: OperatorKeyUse,
    presence: DatabasePresence,
    shedLoad: ShedLoad,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    const lookUp = (hashedKeys: readonly string[]) => this.lookUp(hashedKeys);
    this.lookups = new CredentialCache({ what: 'operator keys', lookUp, presence, shedLoad, now });
  }

  /**
   * Finds the key, and records that it is used now.
   *
   * @param networkOf returns the network of the caller. Unknown keys count against this network.
   * @returns `undefined` for a key that is malformed, unknown, revoked or expired. The result does not disclose which.
   * @throws {ServiceError} `unavailable` when the key cannot be looked up now, which says nothing about the key;
   * `rate_limit_exceeded` for a new key from a network that sends too many unknown keys.
   */
  async verify(key: string, networkOf: () => string): Promise<VerifiedOperatorKey | undefined> {
    if (!OPERATOR_KEY_FORMAT.isWellFormed(key)) return undefined;
    const known = await this.lookups.get(hashKey(key), networkOf);
    if (known === undefined || known.revokedAt !== null) return undefined;
    if (known.expiresAt !== null && known.expiresAt.getTime() <= this.now()) return undefined;
    this.uses.touch(known.id);
    return known;
  }

  /** Records that this process has created a key, so that the first use does not count as an unknown key. */
  expect(hashedKey: string): void {
    this.lookups.expect(hashedKey);
  }

  /** Removes a key from the cache. */
  invalidate(hashedKey: string): void {
    this.lookups.invalidate(hashedKey);
  }

  private async lookUp(hashedKeys: readonly string[]): Promise<ReadonlyMap<string, OperatorKey>> {
    const keys = await this.database.repository(OperatorKey).findBy({ hashedKey: In([...hashedKeys]) });
    return new Map(keys.map((key) => [key.hashedKey, key]));
  }
}
