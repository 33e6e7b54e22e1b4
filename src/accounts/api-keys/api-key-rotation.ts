import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ServiceError } from '../../common/service-error.js';
import { ApiKeyCreation, type CreatedApiKey, type NewApiKey } from './api-key-creation.js';
import { ApiKeysService } from './api-keys.service.js';

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
    private readonly keys: ApiKeysService,
    private readonly creation: ApiKeyCreation,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Makes a new key of the same name, and sets the end of the old one, both or neither. The old key counts as active until
   * its end, so an account with 100 active keys can rotate one only without time for the old key.
   *
   * @throws {ServiceError} `not_found` for a key that is unknown or another account's, `invalid_request` for one that has
   * ended, and as {@link ApiKeyCreation.create} does.
   */
  async rotate(id: string, accountId: string, { overlapMs, ...replacement }: Rotation): Promise<RotatedApiKey> {
    const old = await this.keys.find(id, accountId);
    const now = this.now();
    if (old.revokedAt !== null || (old.expiresAt !== null && old.expiresAt.getTime() <= now)) {
      throw new ServiceError('invalid_request', 'This key has ended already. Create a new one.');
    }
    const end = new Date(now + overlapMs);
    const endsAt = old.expiresAt !== null && old.expiresAt < end ? old.expiresAt : end;
    const created = await this.creation.create(
      accountId,
      { name: old.name, ...replacement },
      { id, endsAt: overlapMs === 0 ? undefined : endsAt },
    );
    return { created, oldEndsAt: endsAt };
  }
}
