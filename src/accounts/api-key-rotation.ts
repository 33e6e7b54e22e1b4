import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../common/clock.js';
import { ServiceError } from '../common/service-error.js';
import { orUnavailable } from '../database/query-failure.js';
import { ApiKeyVerifier } from './api-key-verifier.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeysService, type CreatedApiKey, type NewApiKey } from './api-keys.service.js';

export interface Rotation extends Omit<NewApiKey, 'name'> {
  /** For how long the old key goes on: the time to bring the new one to where it is used. 0 revokes it. */
  readonly overlapMs: number;
}

export interface RotatedApiKey {
  readonly created: CreatedApiKey;
  readonly oldEndsAt: Date;
}

/** Replaces keys. */
@Injectable()
export class ApiKeyRotation {
  constructor(
    @InjectRepository(ApiKey) private readonly rows: Repository<ApiKey>,
    private readonly keys: ApiKeysService,
    private readonly verifier: ApiKeyVerifier,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Makes a new key of the same name, and then lets the old one end: should the second fail, a key too many is left, which
   * is in the list, and nothing has stopped working.
   *
   * @throws {ServiceError} `not_found` for a key that is unknown or another account's, `invalid_request` for one that has ended.
   */
  async rotate(id: string, accountId: string, { overlapMs, ...replacement }: Rotation): Promise<RotatedApiKey> {
    const old = await this.keys.find(id, accountId);
    const now = this.now();
    if (old.revokedAt !== null || (old.expiresAt !== null && old.expiresAt.getTime() <= now)) {
      throw new ServiceError('invalid_request', 'This key has ended already. Create a new one.');
    }
    const created = await this.keys.create(accountId, { name: old.name, ...replacement });
    if (overlapMs === 0) return { created, oldEndsAt: (await this.keys.revoke(id, accountId)).revokedAt };
    const end = new Date(now + overlapMs);
    await this.expire(id, end);
    return { created, oldEndsAt: old.expiresAt !== null && old.expiresAt < end ? old.expiresAt : end };
  }

  /** Never later than it would have ended anyway. */
  private async expire(id: string, expiresAt: Date): Promise<void> {
    const at = expiresAt.toISOString();
    await orUnavailable(
      this.rows
        .createQueryBuilder()
        .update()
        .set({ expiresAt })
        .where('id = :id AND (expires_at IS NULL OR expires_at > :at)', { id, at })
        .execute(),
    );
    const row = await orUnavailable(this.rows.findOne({ select: { hashedKey: true }, where: { id } }));
    if (row !== null) this.verifier.forget(row.hashedKey);
  }
}
