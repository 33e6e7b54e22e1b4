import { Column, Entity, In, Index, Repository } from 'typeorm';
import { StoredKey } from '../credentials/stored-key.js';
import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { UseRecorder } from '../credentials/use-recorder.js';
import { ShedLoad } from '../../platform/common/shed-load.js';
import { CredentialDatabase } from '../../platform/database/credential-database.js';
import { DatabaseAvailability } from '../../platform/database/database-availability.js';
import { AccountChanges } from '../credentials/account-changes.js';
import { CredentialCache, type StoredCredential } from '../credentials/credential-cache.js';
import { hashSecret, KeyFormat } from '../credentials/secrets.js';

/** A `read` key reads everything that operators see. A `write` key can also change it. */
export const OPERATOR_SCOPES = ['read', 'write'] as const;
export type OperatorScope = (typeof OPERATOR_SCOPES)[number];

/** A credential of the API for operators. It belongs to no account. */
@Entity('operator_keys')
@Index(['createdAt', 'id'])
export class OperatorKey extends StoredKey {
  @Column({ type: 'text' })
  readonly scope!: OperatorScope;

  /** The id of the operator or of the operator key that has made the key. `null`: the admin command has, or it is not known. */
  @Column({ type: 'text', name: 'created_by', nullable: true })
  readonly createdBy!: string | null;
}

/** Writes `lastUsedAt` of operator keys. */
@Injectable()
export class OperatorKeyUse extends UseRecorder<OperatorKey> {
  constructor(@InjectRepository(OperatorKey) keys: Repository<OperatorKey>, @Inject(CLOCK) now: Clock) {
    super(keys, 'lastUsedAt', now);
  }
}

/** An API key never has this form, because it has no `_` after its mark. */
export const OPERATOR_KEY_FORMAT = new KeyFormat('csk_op_');

export type VerifiedOperatorKey = Pick<OperatorKey, 'id' | 'scope'>;

/** Verifies operator keys. A revoked key is refused on every replica within a second. */
@Injectable()
export class OperatorKeyVerifier {
  private readonly lookups: CredentialCache<StoredCredential & { readonly key: OperatorKey }>;

  constructor(
    private readonly database: CredentialDatabase,
    private readonly uses: OperatorKeyUse,
    private readonly changes: AccountChanges,
    availability: DatabaseAvailability,
    shedLoad: ShedLoad,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    const lookUp = (hashedKeys: readonly string[]) => this.lookUp(hashedKeys);
    this.lookups = new CredentialCache({ what: 'operator keys', lookUp, changes, availability, shedLoad, now });
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
    const known = (await this.lookups.get(hashSecret(key), networkOf))?.key;
    if (known === undefined || known.revokedAt !== null) return undefined;
    if (known.expiresAt !== null && known.expiresAt.getTime() <= this.now()) return undefined;
    this.uses.touch(known.id);
    return known;
  }

  /** Records that this process has created a key, so that the first use does not count as an unknown key. */
  expect(hashedKey: string): void {
    this.lookups.expect(hashedKey);
  }

  private async lookUp(hashedKeys: readonly string[]) {
    const { position: readAt } = this.changes;
    const keys = await this.database.repository(OperatorKey).findBy({ hashedKey: In([...hashedKeys]) });
    return new Map(keys.map((key) => [key.hashedKey, { accountId: key.id, readAt, key }]));
  }
}
