import { Inject, Injectable } from '@nestjs/common';
import { In, IsNull, MoreThan } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { CredentialDatabase } from '../../database/credential-database.js';
import { ValidityWatch } from '../credentials/validity-watch.js';
import { ApiKey } from './api-key.entity.js';

/** Watches API keys for revocation, expiry and deletion, and their accounts for being disabled. */
@Injectable()
export class RevocationWatch extends ValidityWatch {
  constructor(
    private readonly database: CredentialDatabase,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    super();
  }

  protected override async validOf(keyIds: readonly string[]): Promise<ReadonlySet<string>> {
    const unrevoked = { id: In(keyIds), revokedAt: IsNull(), account: { disabledAt: IsNull() } };
    const keys = await this.database.repository(ApiKey).find({
      select: { id: true },
      where: [
        { ...unrevoked, expiresAt: IsNull() },
        { ...unrevoked, expiresAt: MoreThan(new Date(this.now())) },
      ],
    });
    return new Set(keys.map(({ id }) => id));
  }
}
