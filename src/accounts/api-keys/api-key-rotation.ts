import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '../../platform/database/queries/atomic-statements.js';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { toPlainLine } from '../../platform/common/text/cut-text.js';
import { ApiKeyCreation, replacedKeyEnded, type CreatedApiKey, type NewApiKey } from './api-key-creation.js';
import { limitsIn } from './api-key.entity.js';
import { ApiKeysService } from './api-keys.service.js';

interface Rotation extends Omit<NewApiKey, 'name' | 'limits' | 'originId'> {
  /** How long the old key stays valid, so that the owner has time to deploy the new key. 0 revokes the old key at once. */
  readonly overlapMs: number;
}

interface RotatedApiKey {
  readonly created: CreatedApiKey;
  readonly oldEndsAt: Date;
}

/** Replaces an API key by a new key. */
@Injectable()
export class ApiKeyRotation {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly creation: ApiKeyCreation,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Creates a new key with the same name and the same limits, which also continues the counters of the old key, and sets the end of the old key. Either both happen or neither. The old key counts
   * as active until its end. So an account with 100 active keys can rotate a key only with `overlapMs` 0.
   *
   * @throws {ServiceError} `not_found` for a key that is unknown or belongs to another account; `invalid_request` for a key
   * that has ended; the errors of {@link ApiKeyCreation.create}.
   */
  async rotate(
    id: string,
    accountId: string,
    { overlapMs, ...replacement }: Rotation,
    author?: ChangeAuthor,
  ): Promise<RotatedApiKey> {
    const old = await this.keys.find(id, accountId);
    const now = this.now();
    if (old.revokedAt !== null || (old.expiresAt !== null && old.expiresAt.getTime() <= now)) {
      throw replacedKeyEnded();
    }
    const end = new Date(now + overlapMs);
    const endsAt = old.expiresAt !== null && old.expiresAt < end ? old.expiresAt : end;
    const created = await this.creation.create(
      accountId,
      // The name can be older than the rules about names.
      { name: toPlainLine(old.name), limits: limitsIn(old), originId: old.originId ?? old.id, ...replacement },
      { replaced: { id, endsAt: overlapMs === 0 ? undefined : endsAt }, author },
    );
    return { created, oldEndsAt: endsAt };
  }
}
